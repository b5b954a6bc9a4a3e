import type { ClientInfo } from '../../../shared/client-info';
import type { Provider, User } from '../../../users/user.entity';
import type { LoginCommand } from '../login-command';

/** Checks the credential of a login for one provider. An outage throws a 503 error and must not count as a failure. */
export abstract class CredentialVerifier {
  abstract readonly provider: Provider;

  /** @throws DomainError COMMON_503001 when the service has no capacity for a check now */
  abstract assertCapacity(client: ClientInfo): void;

  /**
   * Checks the credential of a known user of this provider. A wrong credential is counted before the answer is sent.
   * @throws DomainError LOGIN_401001, or LOGIN_401004 when the account was locked before the failure was counted
   */
  abstract assertMatches(user: User, command: LoginCommand, client: ClientInfo): Promise<void>;

  /**
   * Handles a login name without a user, with the same work as for a known user.
   * @returns the user whose credential the provider has accepted, otherwise null
   */
  abstract resolveUnknown(command: LoginCommand, client: ClientInfo): Promise<User | null>;

  /**
   * Called after the success is recorded. Renews values that need the right password, such as a hash of a lower cost.
   */
  abstract renew(user: User, command: LoginCommand, client: ClientInfo): Promise<void>;
}
