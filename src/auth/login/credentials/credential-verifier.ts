import type { ClientInfo } from '../../../shared/client-info';
import type { Provider, User } from '../../../users/user.entity';
import type { LoginCommand } from '../login-command';

/** Checks the credential of a login for one provider. An outage throws (503): it must not count as a failure. */
export abstract class CredentialVerifier {
  abstract readonly provider: Provider;

  /** @throws DomainError COMMON_503001 when the service has no capacity for a check now */
  abstract assertCapacity(client: ClientInfo): void;

  /**
   * Runs the check of one credential and the counting of its result as one unit of work. A provider whose system has a
   * lock of its own limits the units that run at once, and refuses those that come after the lock of this service.
   */
  inTurn<T>(_user: User, _command: LoginCommand, work: () => Promise<T>): Promise<T> {
    return work();
  }

  /** Whether the credential is right, for a known user of this provider. */
  abstract matches(user: User, command: LoginCommand, client: ClientInfo): Promise<boolean>;

  /**
   * For a login name without a user: does the work of a check. Returns a user when the provider knows the person and
   * the credential is right.
   */
  abstract resolveUnknown(command: LoginCommand, client: ClientInfo): Promise<User | null>;

  /** After the success is recorded: updates what needs the right password, such as a hash of a lower cost. */
  abstract renew(user: User, command: LoginCommand, client: ClientInfo): Promise<void>;
}
