import type { Actor } from '../audit/actor';
import type { AccountChange, ForeignChange } from '../mail/mailer';
import { type AdminScope, everyTenant } from './admin-scope';

/** Who asks for a change, and which rows this caller can reach. Every use case takes it. */
export interface Authority {
  readonly scope: AdminScope;
  /** The administrator of a request. Undefined on the command line: AuditTrail names the Operator. */
  readonly actor?: Actor;
  /** Ties the change to the rights that the guard has read: AdminChanges compares it in the transaction. */
  readonly credentialVersion?: number;
}

/** An administrator who asks by a request. */
export type Administrator = Authority & Required<Pick<Authority, 'actor'>>;

/** The command line reaches everything. */
export const operatorAuthority: Authority = { scope: { tenantId: everyTenant } };

/** The notice of a change by this caller to the owner of the account. */
export const foreignChange = (change: AccountChange, { actor }: Authority): ForeignChange => ({
  ...{ change, by: 'administrator', language: actor?.client.language },
});

/** Whether the caller may change the rights, the tenant and the accounts of administrators. */
export const rulesAdministrators = ({ scope }: Authority): boolean => scope.tenantId === everyTenant;
