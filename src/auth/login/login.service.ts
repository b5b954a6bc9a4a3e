import { Injectable } from '@nestjs/common';
import { CaptchaService } from '../../captcha/captcha.service';
import type { ClientInfo } from '../../shared/client-info';
import { MfaChallenges } from '../../mfa/mfa-challenges';
import { PasswordChangeRequests } from '../../password-reset/password-change-requests';
import { SessionOpener } from '../../tokens/session-opener';
import { LoginLock } from '../../users/login-lock';
import { PasswordHistory } from '../../users/password-history';
import type { User } from '../../users/user.entity';
import type { LoginCommand } from './credentials/credential-verifier';
import { Credentials } from './credentials/credentials';
import type { LoginOutcome } from './login-outcome';

/** `POST /login` in the order of §3.1 and §4.1; each line answers with its own code, and only the last writes tokens. */
@Injectable()
export class LoginService {
  constructor(
    private readonly captcha: CaptchaService,
    private readonly credentials: Credentials,
    private readonly lock: LoginLock,
    private readonly history: PasswordHistory,
    private readonly changeRequests: PasswordChangeRequests,
    private readonly challenges: MfaChallenges,
    private readonly sessions: SessionOpener,
  ) {}

  async login(command: LoginCommand, client: ClientInfo): Promise<LoginOutcome> {
    this.credentials.assertRoom(command, client); //                    COMMON_503001, the captcha is not spent
    await this.captcha.assertHuman(command.captchaToken, client.ip); // CAPTCHA_401001, counter untouched
    const { user, accepted } = await this.credentials.userOf(command, client); // LOGIN_404001
    await this.credentials.assertOpen(user, command, client); //        LOGIN_401004
    if (!accepted) await this.credentials.assertValid(user, command, client); // LOGIN_401001, counter + 1
    await this.lock.recordSuccess(user); //                             LOGIN_401004, 401011/012/008, or counter 0
    await this.credentials.renew(user, command, client); //             a hash of a lower cost
    return this.branch(user, client); //                                one of three (§1.3)
  }

  /** A due password change comes before the second factor; it issues no token, and the next login still needs both. */
  private async branch(user: User, client: ClientInfo): Promise<LoginOutcome> {
    const due = this.dueChange(user);
    if (due !== null) {
      return { kind: 'password-change', user, changeUid: await this.changeRequests.openForced(user, due) };
    }
    if (this.challenges.required) return { kind: 'mfa', user, ...(await this.challenges.open(user, client)) };
    return { kind: 'session', user, tokens: await this.sessions.open(user, client, null) };
  }

  /** Type 0 for a temporary password, type 3 for an expired one; a directory's password is the directory's business. */
  private dueChange(user: User): 0 | 3 | null {
    if (user.provider !== 'password') return null;
    if (user.mustChangePassword) return 0;
    return this.history.isExpired(user) ? 3 : null;
  }
}
