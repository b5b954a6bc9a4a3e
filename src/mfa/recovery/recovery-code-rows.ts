import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { KeyRing } from '../../platform/crypto/key-ring';
import { Database, type Transaction } from '../../platform/database/database';
import { type Sql, timeOrNull } from '../../platform/database/sql';
import { noteOwnFactors } from '../../users/own-factors';
import { recoveryCodePurpose as purpose, recoveryCodesLeft } from '../recovery-codes-left';

interface Row {
  readonly id: string;
  readonly code_hash: string;
}

/**
 * The table `recovery_codes`. Only an HMAC over the user and the code is stored, with the id of its key: codes are kept
 * for years, and a code of a key that is no longer configured cannot be checked. Such a code does not count as left.
 */
@Injectable()
export class RecoveryCodeRows {
  constructor(
    private readonly database: Database,
    private readonly keys: KeyRing,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** The transaction must hold the row of the user: of parallel calls, the last one leaves its codes. */
  async replaceAll(tx: Transaction, userId: string, codes: readonly string[]): Promise<void> {
    await this.removeAll(tx, userId);
    await noteOwnFactors(tx, userId);
    const [keyId] = this.keys.keyIds(purpose);
    const now = this.clock.now();
    await tx.affected(
      `INSERT INTO recovery_codes (id, user_id, code_hash, key_id, created_at)
       VALUES ${codes.map(() => '(?, ?, ?, ?, ?)').join(', ')}`,
      codes.flatMap((code) => [
        this.random.uuid(),
        userId,
        this.keys.mac(purpose, bound(userId, code)),
        keyId ?? '',
        now,
      ]),
    );
  }

  /** Returns the id of the unspent row of this code. Every row is compared, in constant time. */
  async find(userId: string, code: string): Promise<string | undefined> {
    const rows = await this.database.rows<Row>(
      'SELECT id, code_hash FROM recovery_codes WHERE user_id = ? AND used_at IS NULL',
      [userId],
    );
    return rows.filter(({ code_hash }) => this.keys.macMatches(purpose, bound(userId, code), code_hash))[0]?.id;
  }

  /**
   * Race: one code in parallel requests, on any replica, and the replacement or end of all codes. The first commit wins.
   * The others match no row, and are answered as for a wrong code.
   */
  spend(tx: Transaction, id: string): Promise<boolean> {
    return tx.won('UPDATE recovery_codes SET used_at = ? WHERE id = ? AND used_at IS NULL', [this.clock.now(), id]);
  }

  /** How many codes are left, and when they were made. `createdAt` is null without codes. */
  async summary(sql: Sql, userId: string): Promise<{ readonly left: number; readonly createdAt: Date | null }> {
    const row = await sql.row<{ created_at: unknown; codes_left: number }>(
      `SELECT (SELECT MAX(created_at) FROM recovery_codes WHERE user_id = ?) AS created_at,
              ${recoveryCodesLeft(this.keys, '?')} AS codes_left`,
      [userId, userId],
    );
    return { left: Number(row?.codes_left), createdAt: timeOrNull(row?.created_at) };
  }

  /** The transaction must hold the row of the user. @returns how many unspent codes it has removed */
  async removeAll(tx: Transaction, userId: string): Promise<number> {
    const unspent = await tx.affected('DELETE FROM recovery_codes WHERE user_id = ? AND used_at IS NULL', [userId]);
    await tx.affected('DELETE FROM recovery_codes WHERE user_id = ?', [userId]);
    return unspent;
  }
}

/** @param code in its canonical form. It is bound to its user, so that a copied row opens no other account. */
function bound(userId: string, code: string): string {
  return `${userId}:${code}`;
}
