import type { AuditEntry, AuditEvent } from '../audit/audit-trail';
import type { Transaction } from '../platform/database/database';
import { identityKey } from '../shared/identity-key';
import { isPlainText, plainTextRule } from '../shared/plain-text';
import type { GroupSource } from './group.entity';
import { GroupProblem } from './group-problem';

/** A transaction, and how its audit rows name who acts. */
export interface GroupChange {
  readonly tx: Transaction;
  record(event: AuditEvent, entry: Pick<AuditEntry, 'userId' | 'detail'>): Promise<void>;
}

/** Who owns a group. */
export interface GroupOwner {
  readonly source: GroupSource;
  /** The id of the identity provider. Only the source `provider` has one. */
  readonly ownerId?: string | null;
}

/** The source that writes, and the tenant that it reaches; without one it reaches all. */
export interface GroupWriter extends GroupOwner {
  readonly tenantId?: string;
}

/** A check of a token reads the names of all groups of its user. */
export const mostGroupsOfUser = 1000;
/** Of a sign-in, and of all sign-ins with one owner in a tenant: what another system says must not fill the tables. */
export const mostFollowed = { names: 500, groups: 5000 } as const;

/** The form in which a name is stored. @throws GroupProblem malformed */
export function groupName(text: string): { readonly name: string; readonly nameKey: string } {
  const [name, nameKey] = [text.trim(), identityKey(text)];
  if (name === '' || nameKey === '' || name.length > 255 || nameKey.length > 255 || !isPlainText(name)) {
    throw new GroupProblem('malformed', `the name must have 1 to 255 characters and ${plainTextRule}`);
  }
  return { name, nameKey };
}
