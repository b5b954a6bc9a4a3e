import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { AuditTrail } from '../audit/audit-trail';
import { Database, type Transaction } from '../platform/database/database';
import { UsersRepository } from '../users/users.repository';
import type { CurrentSession } from './current-session';
import { PendingLogins } from './pending-logins';
import { LoginTokens } from './persistence/login-tokens';

/** Ends sessions: one by logout, all of a user by a password change, a disabling or an operator (§3.3, W30). */
@Injectable()
export class TokenRevoker {
  constructor(
    private readonly database: Database,
    private readonly tokens: LoginTokens,
    private readonly pendingLogins: PendingLogins,
    private readonly users: UsersRepository,
    private readonly audit: AuditTrail,
  ) {}

  /** Every token of the login that the presented token belongs to; other logins of the user go on. */
  async revokeSession({ payload }: CurrentSession, client: ClientInfo): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.tokens.revokeSession(tx, payload.sid);
      await this.audit.record(tx, 'SESSION_CLOSED', { userId: payload.sub, client, detail: { sid: payload.sid } });
    });
  }

  /**
   * Everything that was issued to the user. Racers: logins and refreshes of the same instant, on any replica; what they
   * insert carries the former version and is dead. @returns how many tokens were live.
   */
  async revokeAll(tx: Transaction, userId: string): Promise<number> {
    await this.users.endEverythingIssued(tx, userId);
    return this.markRevoked(tx, userId);
  }

  /** For a unit that has already moved the version, by setting a password. */
  async markRevoked(tx: Transaction, userId: string): Promise<number> {
    await this.pendingLogins.close(tx, userId);
    return this.tokens.markRevoked(tx, userId);
  }
}
