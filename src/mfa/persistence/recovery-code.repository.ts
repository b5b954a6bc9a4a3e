import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { KeyRing } from '../../platform/crypto/key-ring';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import type { Sql } from '../../platform/database/sql';
import { noteOwnFactors } from '../../users/own-factors';
import { recoveryCodePurpose as purpose } from '../recovery-codes-left';
import { RecoveryCode } from './recovery-code.entity';

export interface RecoveryCodeSummary {
  readonly left: number;
  /** Null when the user has no codes. */
  readonly createdAt: Date | null;
}

/**
 * The table `recovery_codes`. Only an HMAC over the user and the code is stored, with the id of its key: codes are kept
 * for years, and a code of a key that is no longer configured cannot be checked. Such a code does not count as left.
 */
@Injectable()
export class RecoveryCodeRows {
  private readonly rows: EntityRows<RecoveryCode>;

  constructor(
    @InjectRepository(RecoveryCode) rows: Repository<RecoveryCode>,
    database: Database,
    private readonly keys: KeyRing,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** The transaction must hold the row of the user: of parallel calls, the last one leaves its codes. */
  async replaceAll(tx: Transaction, userId: string, codes: readonly string[]): Promise<void> {
    await this.removeAll(tx, userId);
    await noteOwnFactors(tx, userId);
    const [keyId] = this.keys.keyIds(purpose);
    const now = this.clock.now();
    // Plain SQL: one statement for all codes.
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
    const unspent = await this.rows.find({ userId, usedAt: IsNull() });
    return unspent.filter(({ codeHash }) => this.keys.macMatches(purpose, bound(userId, code), codeHash))[0]?.id;
  }

  /**
   * Race: one code in parallel requests, on any replica, and the replacement or end of all codes. The first commit wins.
   * The others match no row, and are answered as for a wrong code.
   */
  spend(tx: Transaction, id: string): Promise<boolean> {
    return this.rows.won(tx, { id, usedAt: IsNull() }, { usedAt: this.clock.now() });
  }

  /** How many codes are left, and when they were made. All codes of a user are made together. */
  async summary(sql: Sql, userId: string): Promise<RecoveryCodeSummary> {
    const codes = await this.rows.find({ userId }, {}, sql);
    const known = this.keys.keyIds(purpose);
    const left = codes.filter(({ usedAt, keyId }) => usedAt === null && known.includes(keyId)).length;
    return { left, createdAt: codes[0]?.createdAt ?? null };
  }

  /** The transaction must hold the row of the user. @returns how many unspent codes it has removed */
  async removeAll(tx: Transaction, userId: string): Promise<number> {
    const unspent = await this.rows.remove(tx, { userId, usedAt: IsNull() });
    await this.rows.remove(tx, { userId });
    return unspent;
  }
}

/** @param code in its canonical form. It is bound to its user, so that a copied row opens no other account. */
function bound(userId: string, code: string): string {
  return `${userId}:${code}`;
}
