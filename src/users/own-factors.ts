import type { Sql } from '../platform/database/sql';

/**
 * An SQL expression that is 0 for a user who never made recovery codes or a passkey. Most users never do, and a count in
 * another table costs a check of a token as much as all else that it reads (ADR 0014).
 * @param users the alias of the table `users`
 * @param count the expression of the count
 */
export const ifOwnFactors = (users: string, count: string): string =>
  `(CASE WHEN ${users}.own_factors = 0 THEN 0 ELSE ${count} END)`;

/** Notes that the user has made recovery codes or a passkey. The caller adds the rows in the same transaction. */
export async function noteOwnFactors(sql: Sql, userId: string): Promise<void> {
  await sql.affected('UPDATE users SET own_factors = 1 WHERE uid = ? AND own_factors = 0', [userId]);
}
