import type { Sql } from '../platform/database/sql';
import { filledUp } from '../platform/database/statement-keys';

/** The tenant of each of these users, also of a deleted one, whose row stays. */
export async function tenantsOfUsers(sql: Sql, uids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (uids.length === 0) return new Map();
  const keys = filledUp(uids);
  const rows = await sql.rows<{ uid: string; tenant_id: string }>(
    `SELECT uid, tenant_id FROM users WHERE uid IN (${keys.map(() => '?').join(', ')})`,
    keys,
  );
  return new Map(rows.map(({ uid, tenant_id: tenant }) => [uid, tenant]));
}
