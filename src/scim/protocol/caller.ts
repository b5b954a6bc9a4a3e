import { everyTenant } from '../../admin/admin-scope';
import type { Administrator } from '../../admin/authority';
import type { ScimClient } from '../../introspection/service-client.repository';
import { rootTenant } from '../../platform/settings/system-settings';
import type { ClientInfo } from '../../shared/client-info';
import type { WithinTenant } from '../../users/tenant.repository';

/** A client of SCIM in one request. */
export interface Caller {
  /** Names the client in the audit rows. */
  readonly authority: Administrator;
  readonly within: WithinTenant;
  /** Where it makes users and groups. */
  readonly tenantId: string;
}

export function callerOf({ id, tenantId }: ScimClient, client: ClientInfo): Caller {
  return {
    authority: { scope: { tenantId: tenantId ?? everyTenant }, actor: { id, client }, provisioning: true },
    within: tenantId === undefined ? {} : { tenantId },
    tenantId: tenantId ?? rootTenant,
  };
}
