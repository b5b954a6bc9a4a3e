import { rootTenant } from '../platform/settings/system-settings';
import type { WithinTenant } from '../users/tenant.repository';
import { usersOfTenant } from '../users/users-of-tenant';

/** A symbol, because any text may be the id of a tenant. */
export const everyTenant = Symbol('every tenant');

/** The tenant whose rows a caller can reach. Each statement has it in its WHERE; rows outside are USER_404001. */
export interface AdminScope {
  readonly tenantId: string | typeof everyTenant;
}

/** An administrator of the root tenant reaches every tenant, any other one only the own tenant. */
export function scopeOf({ tenantId }: { readonly tenantId: string }): AdminScope {
  return { tenantId: tenantId === rootTenant ? everyTenant : tenantId };
}

/** The condition of a scope, for the WHERE of a statement. */
export const within = ({ tenantId }: AdminScope): WithinTenant => (tenantId === everyTenant ? {} : { tenantId });

export const isWithin = ({ tenantId: reached }: AdminScope, tenantId: string): boolean =>
  reached === everyTenant || reached === tenantId;

/** The condition that a column names a user of a scope. Undefined: every user, and no user. */
export const usersWithin = ({ tenantId }: AdminScope) =>
  tenantId === everyTenant ? undefined : usersOfTenant(tenantId);
