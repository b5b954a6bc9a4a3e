import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { AuditTrail } from '../audit/audit-trail';
import { Mailer } from '../mail/mailer';
import type { Transaction } from '../platform/database/database';
import { TokenRevoker } from '../sessions/token-revoker';
import { PasswordHistory } from '../users/password-change-log.repository';
import type { ChangeType } from '../shared/change-type';
import type { User } from '../users/user.entity';
import { UsersRepository } from '../users/users.repository';

export interface ChosenPassword {
  readonly hash: string;
  readonly type: ChangeType;
  /** The credential version that allowed this change. The change is refused when the user now has a newer version. */
  readonly issuedUnder: number;
  /** The user came by a link that was mailed, and nobody else had it. */
  readonly mailed?: boolean;
}

/** Writes all effects of a user's new password, in the caller's transaction (docs/spec/service.md#4.11). */
@Injectable()
export class PasswordChange {
  constructor(
    private readonly users: UsersRepository,
    private readonly history: PasswordHistory,
    private readonly revoker: TokenRevoker,
    private readonly audit: AuditTrail,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
  ) {}

  /**
   * An operator who sets a password, and another change by the user, compete for the `users` row. The first commit
   * wins. The new credential version ends every token and pending login of the user, also those that a parallel login
   * or refresh inserts. The rows are marked as revoked only so that the tables show the true state (ADR 0005).
   * @returns false when the user has a newer credential version. Nothing is changed, and the caller rolls back.
   */
  async write(tx: Transaction, user: User, chosen: ChosenPassword, client: ClientInfo): Promise<boolean> {
    const { hash, type, issuedUnder, mailed } = chosen;
    if (!(await this.users.setPassword(tx, user.uid, hash, { temporary: false, issuedUnder, mailed }))) return false;
    await this.history.append(tx, user.uid, type, hash, { language: client.language });
    await this.revoker.markRevoked(tx, user.uid);
    await this.audit.record(tx, 'USER_PASSWORD_CHANGED', { userId: user.uid, client, detail: { type } });
    await this.notify(tx, user, client);
    return true;
  }

  private async notify(tx: Transaction, { uid, loginName, email }: User, client: ClientInfo): Promise<void> {
    if (email === null) return;
    const { language, ip } = client;
    const passkeys = (await this.users.resetState(tx, uid))?.hasPasskeys ?? false;
    await this.mailer.queuePasswordChanged(tx, {
      userId: uid,
      to: email,
      loginName,
      language,
      ip,
      at: this.clock.now(),
      passkeys,
    });
  }
}
