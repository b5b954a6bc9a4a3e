import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import {
  accountLocked,
  captchaRejected,
  captchaUnavailable,
  loginFailed,
  serviceUnavailable,
  userNotFound,
} from '../../shared/errors/error-catalogue';
import { LoginJournal } from '../../audit/login-journal';
import { AppConfig } from '../../platform/config/app-config';
import { PasswordHasher } from '../../users/password-hasher';
import { UsersRepository } from '../../users/users.repository';
import type { LoginCommand } from './credentials/credential-verifier';
import type { LoginOutcome } from './login-outcome';
import { LoginService } from './login.service';

/** Before a credential was judged there is no attempt to log, and a bot must not be able to fill a table. */
const notJudged = new Set([captchaRejected, captchaUnavailable, serviceUnavailable]);

/** Around the use case: a `login_logs` row for each refusal, and one answer for all of them where existence is hidden. */
@Injectable()
export class LoginReporter {
  constructor(
    private readonly service: LoginService,
    private readonly journal: LoginJournal,
    private readonly users: UsersRepository,
    private readonly hasher: PasswordHasher,
    private readonly config: AppConfig,
  ) {}

  async login(command: LoginCommand, client: ClientInfo): Promise<LoginOutcome> {
    try {
      return await this.service.login(command, client);
    } catch (error) {
      if (!(error instanceof DomainError) || notJudged.has(error.entry)) throw error;
      await this.journalRefusal(error, command, client);
      throw await this.concealed(error, command, client);
    }
  }

  private async journalRefusal(error: DomainError, command: LoginCommand, client: ClientInfo): Promise<void> {
    const user =
      error.entry === userNotFound ? null : await this.users.findByLoginName(command.username).catch(() => null);
    await this.journal.failed(
      {
        userId: user?.uid ?? null,
        loginName: user?.loginName ?? command.username,
        provider: command.provider,
        mfa: null,
        outcome: error.entry.code,
      },
      client,
    );
  }

  /** `HIDE_ACCOUNT_EXISTENCE`: unknown, locked and wrong are one answer, after the same work (W10). */
  private async concealed(error: DomainError, command: LoginCommand, client: ClientInfo): Promise<DomainError> {
    if (!this.config.hideAccountExistence) return error;
    if (error.entry === accountLocked) await this.hasher.matches(command.password, null, client);
    return error.entry === accountLocked || error.entry === userNotFound ? new DomainError(loginFailed) : error;
  }
}
