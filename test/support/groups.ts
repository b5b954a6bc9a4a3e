import { randomUUID } from 'node:crypto';
import { identityKey } from '../../src/shared/identity-key';
import type { TestService } from './app';

/** A group of the tenant, with these members. @returns its id */
export async function givenGroup(
  service: TestService,
  name: string,
  {
    tenantId = 'root',
    source = 'admin',
    ownerId = null,
    members = [],
  }: { tenantId?: string; source?: string; ownerId?: string | null; members?: string[] } = {},
): Promise<string> {
  const [id, now, { database }] = [randomUUID(), service.clock.now(), service];
  await database.affected(
    `INSERT INTO user_groups (id, tenant_id, name, name_key, source, owner_id, version, created_at, changed_at)
     VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)`,
    [id, tenantId, name, identityKey(name), source, ownerId, now, now],
  );
  for (const uid of members) {
    await database.affected('INSERT INTO user_group_members (group_id, user_id, added_at) VALUES (?, ?, ?)', [
      id,
      uid,
      now,
    ]);
    await database.affected('UPDATE users SET in_groups = 1 WHERE uid = ?', [uid]);
  }
  return id;
}
