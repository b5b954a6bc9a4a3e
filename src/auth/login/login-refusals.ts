import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import {
  accountLocked,
  directoryUnavailable,
  loginFailed,
  serviceUnavailable,
  userNotFound,
} from '../../shared/errors/error-catalogue';
import { LoginJournal } from '../../audit/login-journal';
import { AppConfig } from '../../platform/config/app-config';
import type { User } from '../../users/user.entity';
import type { LoginCommand } from './login-command';

/** Writes a `login_logs` row for each refused login, and gives all refusals one answer when existence is hidden. */
@Injectable()
export class LoginRefusals {
  constructor(
    private readonly journal: LoginJournal,
    private readonly config: AppConfig,
  ) {}

  /**
   * Waits for a step of the login and records its refusal.
   * @param user the account of the login name; null while it is not known
   * @throws what the step throws; with `HIDE_ACCOUNT_EXISTENCE` LOGIN_401001 in place of what tells about the account
   */
  async recorded<T>(step: Promise<T>, user: User | null, command: LoginCommand, client: ClientInfo): Promise<T> {
    try {
      return await step;
    } catch (error) {
      // An overloaded service checks no credential. Without a check there is no attempt to log.
      if (!(error instanceof DomainError) || error.entry === serviceUnavailable) throw error;
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
      throw this.concealed(error);
    }
  }

  /**
   * Unknown, locked and wrong become one answer (docs/spec/attacks.md#w10). LOGIN_503001 without a configured directory
   * would also tell that the account belongs to a directory. With a directory it stays: an outage must not look like a
   * mistyped password to the users of the directory.
   */
  private concealed(error: DomainError): DomainError {
    if (!this.config.hideAccountExistence) return error;
    const telling = [userNotFound, accountLocked];
    if (this.config.ldap === undefined) telling.push(directoryUnavailable);
    return telling.includes(error.entry) ? new DomainError(loginFailed) : error;
  }
}
