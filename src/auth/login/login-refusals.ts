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
import { DirectorySettings } from '../../directory/ldap-settings';
import { PrivacySettings } from '../../users/account-settings';
import type { User } from '../../users/user.entity';
import { AccountRefused } from './account-refused';
import type { LoginCommand } from './login-command';

/** Writes a `login_logs` row for each refused login. `HIDE_ACCOUNT_EXISTENCE` gives the same answer to all refusals. */
@Injectable()
export class LoginRefusals {
  constructor(
    private readonly journal: LoginJournal,
    private readonly privacy: PrivacySettings,
    private readonly directory: DirectorySettings,
  ) {}

  /**
   * Waits for a step of the login and records its refusal.
   * @param user the account of the login name; null while it is not known
   * @throws the error of the step; with `HIDE_ACCOUNT_EXISTENCE`, LOGIN_401001 instead of an error that reveals the
   *   account
   */
  async recorded<T>(step: Promise<T>, user: User | null, command: LoginCommand, client: ClientInfo): Promise<T> {
    try {
      return await step;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const account = error instanceof AccountRefused ? error.user : user;
      await this.journal.failed(
        {
          userId: account?.uid ?? null,
          loginName: account?.loginName ?? command.username,
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
   * Waits for the login of this user with a passkey, or for another proof of who the user is, and records its refusal.
   * Nothing is concealed from the owner.
   */
  async ofOwner<T>(proof: Promise<T>, user: User, mfa: 'passkey' | null, client: ClientInfo): Promise<T> {
    try {
      return await proof;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const account = (error instanceof AccountRefused ? error.user : null) ?? user;
      const { uid: userId, loginName, provider } = account;
      const attempt = { userId, loginName, provider, mfa, outcome: error.entry.code };
      await this.journal.failed(attempt, client);
      throw error;
    }
  }

  /**
   * An unknown user, a locked account and a wrong password get the same answer (docs/spec/attacks.md#w10). Without a
   * configured directory, LOGIN_503001 would reveal that the account belongs to a directory, so it is replaced too.
   * With a directory, LOGIN_503001 is kept: an outage must not look like a mistyped password to the users of the
   * directory.
   */
  private concealed(error: DomainError): DomainError {
    if (!this.privacy.hideAccountExistence) return error;
    const revealing = [userNotFound, accountLocked];
    if (this.directory.ldap === undefined) revealing.push(directoryUnavailable);
    return revealing.includes(error.entry) ? new DomainError(loginFailed) : error;
  }
}

/** An overloaded service checks no credential. Without a check there is no attempt to log. */
function isRefusal(error: unknown): error is DomainError {
  return error instanceof DomainError && error.entry !== serviceUnavailable;
}
