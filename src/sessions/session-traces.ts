import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';

/** Erases the traces of a deleted user in the tables of this module. */
@Injectable()
export class SessionTraces implements UserTrace {
  readonly tables = ['known_browsers', 'login_tokens', 'pending_logins', 'trusted_devices'];

  constructor(
    traces: UserTraces,
    private readonly database: Database,
  ) {
    traces.register(this);
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    await tx.affected('DELETE FROM trusted_devices WHERE user_id = ?', [uid]);
    await tx.affected('DELETE FROM pending_logins WHERE user_id = ?', [uid]);
    await this.eraseWhatLoginsWrite(tx, uid);
  }

  settle(uid: string): Promise<void> {
    return this.eraseWhatLoginsWrite(this.database, uid);
  }

  private async eraseWhatLoginsWrite(sql: Sql, uid: string): Promise<void> {
    await sql.affected('DELETE FROM known_browsers WHERE user_id = ?', [uid]);
    // The rows stay until they expire, so that their tokens are answered as revoked.
    await sql.affected(
      `UPDATE login_tokens SET ip = NULL, user_agent = NULL
       WHERE user_identity = ? AND token_type = 'refresh' AND jti = sid`,
      [uid],
    );
  }
}
