import type { User } from '../users/user.entity';
import type { Application } from './application.entity';

/**
 * Whether the user may sign in to the application. Groups are not known to this service yet, so an application that is
 * limited to groups admits nobody.
 */
export function admits(application: Application, user: Pick<User, 'tenantId'>): boolean {
  const { enabled, allowedTenants, allowedGroups } = application;
  return (
    enabled && allowedGroups.length === 0 && (allowedTenants.length === 0 || allowedTenants.includes(user.tenantId))
  );
}
