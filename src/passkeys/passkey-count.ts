import type { Sql } from '../platform/database/sql';

/**
 * An SQL expression for the number of passkeys that a user has.
 * @param userId the column or placeholder of the user
 */
export const passkeyCount = (userId: string) => `(SELECT COUNT(*) FROM passkeys p WHERE p.user_id = ${userId})`;

export async function passkeysOf(sql: Sql, userId: string): Promise<number> {
  const row = await sql.row<{ n: number }>(`SELECT ${passkeyCount('?')} AS n`, [userId]);
  return Number(row?.n);
}
