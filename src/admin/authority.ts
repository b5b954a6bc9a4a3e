import type { Actor } from '../audit/actor';
import type { Role } from '../users/user.entity';
import type { AccountChange, ForeignChange } from '../mail/mailer';
import { type AdminScope, everyTenant } from './admin-scope';

/** Who asks for a change, and which rows this caller can reach. Every use case takes it. */
export interface Authority {
  readonly scope: AdminScope;
  /** The administrator of a request. Undefined on the command line: AuditTrail names the Operator. */
  readonly actor?: Actor;
  /**
   * A client of SCIM, whose id is the actor. It is no administrator: it changes no administrator of the root tenant, and makes none
   * (docs/spec/extensions.md#l). Its token was checked when the request came.
   */
  readonly provisioning?: true;
  /** Ties the change to the rights that the guard has read: AdminChanges compares it in the transaction. */
  readonly credentialVersion?: number;
  /** The role of a caller who is no administrator (docs/spec/extensions.md#roles). AdminChanges compares it, too. */
  readonly role?: Role;
}

/** An administrator who asks by a request. */
export type Administrator = Authority & Required<Pick<Authority, 'actor'>>;

/** The command line reaches everything. */
export const operatorAuthority: Authority = { scope: { tenantId: everyTenant } };

/** The notice of a change by this caller to the owner of the account. */
export const foreignChange = (change: AccountChange, { actor }: Authority): ForeignChange => ({
  ...{ change, by: 'administrator', language: actor?.client.language },
});

/** Whether the caller may change the rights, the tenant and the accounts of administrators and holders of a role. */
export const rulesAdministrators = ({ scope, provisioning, role }: Authority): boolean =>
  scope.tenantId === everyTenant && provisioning === undefined && role === undefined;
