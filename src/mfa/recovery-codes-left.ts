import type { KeyRing } from '../platform/crypto/key-ring';
import type { Sql } from '../platform/database/sql';

/** The purpose of the MAC that is stored for a recovery code. */
export const recoveryCodePurpose = 'recovery-code';

/**
 * An SQL expression for the number of recovery codes that a user has left. A code that no configured key can check does
 * not count. The ids of the keys are hexadecimal texts of this service and the same for every statement, so they are
 * part of its text.
 * @param userId the column or placeholder of the user
 */
export function recoveryCodesLeft(keys: KeyRing, userId: string): string {
  const known = keys.keyIds(recoveryCodePurpose).map((id) => `'${id}'`);
  return `(SELECT COUNT(*) FROM recovery_codes c WHERE c.user_id = ${userId} AND c.used_at IS NULL
                AND c.key_id IN (${known.join(', ')}))`;
}

/** Counts the codes that are not spent and that end when all keys but the first one are removed. */
export async function recoveryCodesOfFormerKeys(sql: Sql, keys: KeyRing): Promise<number> {
  const [first] = keys.keyIds(recoveryCodePurpose);
  const row = await sql.row<{ n: number }>(
    'SELECT COUNT(*) AS n FROM recovery_codes WHERE used_at IS NULL AND key_id <> ?',
    [first ?? ''],
  );
  return Number(row?.n);
}
