import type { ImportedUser } from './user-administration';

/** The users of a dry run that are shown. Their number is in the report. */
export const mostPlanned = 1000;

/** A user whom a dry run would make: who it is, where, and with which rights. No free text, which may be a shifted password. */
export interface PlannedUser {
  readonly login_name: string;
  readonly email: string | null;
  readonly tenant_id: string;
  readonly provider: ImportedUser['provider'];
  readonly is_admin: boolean;
  readonly role: NonNullable<ImportedUser['role']> | null;
}

export const plannedUser = ({ loginName, email, tenantId, provider, isAdmin, role }: ImportedUser): PlannedUser => ({
  ...{ login_name: loginName.trim(), email, tenant_id: tenantId, provider, is_admin: isAdmin, role: role ?? null },
});
