import type { Group } from '../groups/groups.repository';
import type { ListedMember } from './group-administration';

/** A group, as the API and the command line show it. */
export const groupView = (group: Group) => ({
  id: group.id,
  tenant_id: group.tenantId,
  name: group.name,
  source: group.source,
  identity_provider: group.ownerId,
  external_id: group.externalId,
  created_at: group.createdAt.toISOString(),
  changed_at: group.changedAt.toISOString(),
});

export const memberView = ({ uid, loginName, nickname, email, addedAt }: ListedMember) => ({
  ...{ uid, login_name: loginName, nickname, email },
  added_at: addedAt.toISOString(),
});
