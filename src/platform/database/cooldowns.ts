import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { secondsUntil } from '../../shared/errors/domain-error';
import { Database, type Transaction } from './database';
import { type Sql, timeOf } from './sql';
import { isDuplicate, storeUnavailable } from './store-failure';

/**
 * `otp`: sending codes; `reset`: /forget-password, and the order of everything that touches a user's change requests;
 * `ldap`: guesses at a directory user who has no row yet.
 */
export type CooldownKind = 'otp' | 'reset' | 'ldap';

export type Entry = { readonly entered: true } | { readonly entered: false; readonly retryAfter: number };

const longAgo = new Date('2000-01-01T00:00:00Z');

/**
 * A gate row for each subject and kind: one atomic claim decides who may pass until when, over all replicas (§8).
 * Taken first in a transaction it also serialises what follows, without the deadlocks of a unique key as the arbiter.
 */
@Injectable()
export class Cooldowns {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes the gate row, before the transaction that takes it: racers whose INSERT meets a duplicate inside their
   * transactions would each keep a shared lock on the row, and deadlock when they come to claim it.
   * @param subject a user's uid, or a keyed hash of an address that belongs to nobody.
   */
  async ensureGate(subject: string, kind: CooldownKind): Promise<void> {
    const known = await this.database.row('SELECT 1 AS one FROM cooldowns WHERE subject = ? AND kind = ?', [
      subject,
      kind,
    ]);
    if (known !== undefined) return;
    try {
      await this.database.affected('INSERT INTO cooldowns (subject, kind, until) VALUES (?, ?, ?)', [
        subject,
        kind,
        longAgo,
      ]);
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }

  /**
   * Racers: parallel sends or reset requests of one user, on any replica. The first whose UPDATE finds `until` in the past
   * wins and moves it; the others match no row and are told the remaining seconds.
   */
  async tryEnter(sql: Sql, subject: string, kind: CooldownKind, seconds: number): Promise<Entry> {
    const now = this.clock.now();
    const entered = await sql.won('UPDATE cooldowns SET until = ? WHERE subject = ? AND kind = ? AND until <= ?', [
      this.clock.secondsFromNow(seconds),
      subject,
      kind,
      now,
    ]);
    if (entered) return { entered };
    const row = await sql.row<{ until: unknown }>('SELECT until FROM cooldowns WHERE subject = ? AND kind = ?', [
      subject,
      kind,
    ]);
    // The clock again: a loser that had to wait for the winner's commit would otherwise be told more than the cooldown.
    return { entered: false, retryAfter: row === undefined ? 1 : secondsUntil(timeOf(row.until), this.clock.now()) };
  }

  /**
   * Waits for its turn instead of being refused: holds the gate row until the transaction ends, and leaves `until` where
   * it stands, so that nobody's cooldown starts anew. Racers: whoever enters or holds the same gate; they come one after
   * the other. @throws DomainError COMMON_503001 when the row was purged since `ensureGate`: without it there is no turn.
   */
  async hold(tx: Transaction, subject: string, kind: CooldownKind): Promise<void> {
    const held = await tx.won('UPDATE cooldowns SET until = until WHERE subject = ? AND kind = ?', [subject, kind]);
    if (!held) throw storeUnavailable(new Error('the gate row is gone'));
  }
}
