import { rootTenant } from '../../platform/settings/system-settings';

export type AdminPermission =
  | 'overview.read'
  | 'users.read'
  | 'users.write'
  | 'logs.read'
  | 'checks.run'
  | 'config.read'
  | 'config.write'
  | 'mails.read'
  | 'mails.write'
  | 'events.read'
  | 'events.write'
  | 'brand.read'
  | 'brand.write'
  | 'default-brand.read'
  | 'default-brand.write'
  | 'tenants.read'
  | 'tenants.write'
  | 'units.read'
  | 'units.write'
  | 'groups.read'
  | 'groups.write'
  | 'applications.read'
  | 'applications.write'
  | 'identity-providers.read'
  | 'identity-providers.write';

/** What an administrator of another tenant than the root tenant may do, within the own tenant. */
const ofEachTenant: ReadonlySet<AdminPermission> = new Set([
  'overview.read',
  'users.read',
  'users.write',
  'logs.read',
  'brand.read',
  'brand.write',
  'units.read',
  'units.write',
  'groups.read',
  'groups.write',
]);

export function isPermitted(permission: AdminPermission, tenantId: string): boolean {
  return tenantId === rootTenant || ofEachTenant.has(permission);
}
