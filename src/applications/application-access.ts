import type { User } from '../users/user.entity';
import type { Application } from './application.entity';

/** The groups of the user in question. */
export type ReadGroups = () => Promise<readonly { readonly id: string }[]>;

/**
 * Whether the user may sign in to the application. The groups are read only where they decide, and at each question: a
 * member who is removed is refused at the next one. The id of a deleted group admits nobody.
 */
export async function admits(
  { enabled, allowedTenants, allowedGroups }: Application,
  { tenantId }: Pick<User, 'tenantId'>,
  groups: ReadGroups,
): Promise<boolean> {
  if (!enabled || (allowedTenants.length > 0 && !allowedTenants.includes(tenantId))) return false;
  return allowedGroups.length === 0 || (await groups()).some(({ id }) => allowedGroups.includes(id));
}
