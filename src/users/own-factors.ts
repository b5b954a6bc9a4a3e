import { Injectable } from '@nestjs/common';
import type { Sql } from '../platform/database/sql';

/** The factors that a user makes, and that the modules of `mfa` and `passkeys` store. */
export type OwnFactor = 'recovery codes' | 'passkeys';

/** An SQL expression for the number of factors that a user has. @param userId the column or placeholder of the user */
export type CountOf = (userId: string) => string;

/**
 * Port: how many recovery codes and passkeys a user has. The module that owns the table registers the expression of its
 * count when it is made, so that the statements about users count the rows of a table that only its owner names.
 */
@Injectable()
export class OwnFactors {
  private readonly counts = new Map<OwnFactor, CountOf>();

  register(factor: OwnFactor, count: CountOf): void {
    this.counts.set(factor, count);
  }

  /** @throws Error in a program without the module that counts: with 0, an account would look as if it had no factor */
  count(factor: OwnFactor, userId: string): string {
    const count = this.counts.get(factor);
    if (count === undefined) throw new Error(`no module of this program counts ${factor}`);
    return count(userId);
  }

  /**
   * The count, and 0 without a look for a user who never made a factor. Most users never do, and a count in another table
   * costs a check of a token as much as all else that it reads (ADR 0014).
   * @param users the alias of the table `users`
   */
  quickCount(factor: OwnFactor, users: string): string {
    return `(CASE WHEN ${users}.own_factors = 0 THEN 0 ELSE ${this.count(factor, `${users}.uid`)} END)`;
  }
}

/** Notes that the user has made recovery codes or a passkey. The caller adds the rows in the same transaction. */
export async function noteOwnFactors(sql: Sql, userId: string): Promise<void> {
  await sql.affected('UPDATE users SET own_factors = 1 WHERE uid = ? AND own_factors = 0', [userId]);
}
