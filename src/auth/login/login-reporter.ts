import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import {
  type CatalogueEntry,
  accountLocked,
  captchaRejected,
  captchaUnavailable,
  directoryUnavailable,
  loginFailed,
  serviceUnavailable,
  userNotFound,
} from '../../shared/errors/error-catalogue';
import { LoginJournal } from '../../audit/login-journal';
import { AppConfig } from '../../platform/config/app-config';
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
    private readonly config: AppConfig,
  ) {}

  async login(command: LoginCommand, client: ClientInfo): Promise<LoginOutcome> {
    try {
      return await this.service.login(command, client);
    } catch (error) {
      if (!(error instanceof DomainError) || notJudged.has(error.entry)) throw error;
      await this.journalRefusal(error, command, client);
      throw this.concealed(error);
    }
  }

  private async journalRefusal(error: DomainError, command: LoginCommand, client: ClientInfo): Promise<void> {
    // Of an unknown name too: as many statements for each refusal.
    const user = await this.users.findByLoginName(command.username).catch(() => null);
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

  /**
   * `HIDE_ACCOUNT_EXISTENCE`: unknown, locked and wrong are one answer (W10). Where no directory is configured, a directory
   * user's LOGIN_503001 would tell the name as well. The outage of a directory stays one: its users would look for the
   * mistake in their password.
   */
  private concealed(error: DomainError): DomainError {
    if (!this.config.hideAccountExistence) return error;
    const telling: CatalogueEntry[] = [userNotFound, accountLocked];
    if (this.config.ldap === undefined) telling.push(directoryUnavailable);
    return telling.includes(error.entry) ? new DomainError(loginFailed) : error;
  }
}
