import { Injectable } from '@nestjs/common';
import { changeType } from '../../../shared/change-type';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import { passkeyRejected } from '../../../shared/errors/error-catalogue';
import { PasskeyAssertions, type PasskeyLogin, type PresentedPasskey } from '../../../passkeys/passkey-assertions';
import { PasswordChangeRequests } from '../../../password-reset/password-change-requests';
import { SessionOpener } from '../../../sessions/session-opener';
import { LoginLock } from '../../../users/login-lock';
import type { User } from '../../../users/user.entity';
import { UsersRepository } from '../../../users/users.repository';
import { LoginRefusals } from '../login-refusals';
import type { LoginOutcome } from '../login.service';
import { DirectoryUsers } from './directory-users';

/**
 * `POST /login/passkey` (docs/spec/extensions.md#b). Nothing can be guessed, so a refused assertion counts nothing, and
 * no captcha is asked (ADR 0024). Only the owner of a passkey learns the state of the account.
 */
@Injectable()
export class PasskeyLoginService {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly users: UsersRepository,
    private readonly refusals: LoginRefusals,
    private readonly lock: LoginLock,
    private readonly directoryUsers: DirectoryUsers,
    private readonly changeRequests: PasswordChangeRequests,
    private readonly sessions: SessionOpener,
  ) {}

  async login(command: PasskeyLogin, client: ClientInfo): Promise<LoginOutcome> {
    const presented = await this.assertions.assertKnown(command); // PASSKEY_401001, nothing is written
    const user = await this.users.findByUid(presented.userId);
    if (user === null) throw new DomainError(passkeyRejected);
    return this.refusals.ofOwner(this.enter(user, presented, client), user, 'passkey', client);
  }

  private async enter(user: User, presented: PresentedPasskey, client: ClientInfo): Promise<LoginOutcome> {
    await this.assertions.assertSigned(presented, client); //        PASSKEY_401001, nothing is counted
    this.lock.assertOpen(user); //                                   LOGIN_401004
    const proof = await this.directoryUsers.assertStanding(user); // LOGIN_401011, 401012 or 503001
    const entered = await this.lock.recordSuccess(user, false, client.wishedLanguage); // LOGIN_401004/011/012/008
    return this.branch(await this.directoryUsers.follow({ ...proof, user: entered }, client), client);
  }

  /** A passkey is both factors. Only a temporary password interrupts the login: its owner has never chosen one. */
  private async branch(user: User, client: ClientInfo): Promise<LoginOutcome> {
    if (user.provider === 'password' && user.mustChangePassword) {
      const changeUid = await this.changeRequests.openForced(user, changeType.first);
      return { kind: 'password-change', user, changeUid };
    }
    const tokens = await this.sessions.open(user, client, 'passkey');
    return { kind: 'session', user, tokens, deviceToken: null };
  }
}
