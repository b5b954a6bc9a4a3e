import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { Database, type Transaction } from '../platform/database/database';
import { timeOf } from '../platform/database/sql';
import type { User } from '../users/user.entity';

/** Whether a session still stands, for what belongs to one beside its tokens: asked of its first row (ADR 0005). */
@Injectable()
export class LiveSessions {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** When the user logged in; undefined once the session was ended, whatever ended it. */
  async startedAt(sid: string, user: User): Promise<Date | undefined> {
    const row = await this.database.row<{ created_at: unknown }>(
      `SELECT created_at FROM login_tokens
       WHERE jti = ? AND user_identity = ? AND is_revoked = 0 AND credential_version = ? AND expires > ?`,
      [sid, user.uid, user.credentialVersion, this.clock.now()],
    );
    return row === undefined ? undefined : timeOf(row.created_at);
  }

  /**
   * Racers: a logout of the same instant. It comes before, and this finds no row; or it waits until the unit has ended.
   * The user's row, which decides on everything else that ends a session, has been taken before.
   */
  hold(tx: Transaction, sid: string, user: User): Promise<boolean> {
    return tx.won(
      `UPDATE login_tokens SET is_revoked = 0
       WHERE jti = ? AND user_identity = ? AND is_revoked = 0 AND credential_version = ? AND expires > ?`,
      [sid, user.uid, user.credentialVersion, this.clock.now()],
    );
  }
}
