import type { ClientInfo } from '../../../shared/client-info';
import type { Provider, User } from '../../../users/user.entity';
import type { LoginCommand } from '../login-command';

/** Checks the credential of a login for one provider. An outage throws (503): it must not count as a failure. */
export abstract class CredentialVerifier {
  abstract readonly provider: Provider;

  /** @throws DomainError COMMON_503001 when the service has no capacity for a check now */
  abstract assertCapacity(client: ClientInfo): void;

  /**
   * For a known user of this provider. A wrong credential is counted before it is answered.
   * @throws DomainError LOGIN_401001, or LOGIN_401004 when the account was locked before the failure was counted
   */
  abstract assertMatches(user: User, command: LoginCommand, client: ClientInfo): Promise<void>;

  /**
   * For a login name without a user: does the same work as for a known one.
   * @returns the user whose credential the provider has accepted, otherwise null
   */
  abstract resolveUnknown(command: LoginCommand, client: ClientInfo): Promise<User | null>;

  /** After the success is recorded: updates what needs the right password, such as a hash of a lower cost. */
  abstract renew(user: User, command: LoginCommand, client: ClientInfo): Promise<void>;
}
