import type { ClientInfo } from '../../../shared/client-info';
import type { Provider, User } from '../../../users/user.entity';

export interface LoginCommand {
  readonly username: string;
  readonly password: string;
  readonly provider: Provider;
  readonly captchaToken: unknown;
}

/** Judges a credential for one provider. An outage is an error (503), never a "no": it must not count as a failure. */
export abstract class CredentialVerifier {
  abstract readonly provider: Provider;

  /** @throws DomainError COMMON_503001 where the judgement would be refused now for want of capacity */
  abstract assertCapacity(client: ClientInfo): void;

  /**
   * Runs the judgement of one credential and the counting of its outcome as one piece. Where guesses reach a system that
   * has a lock of its own, few are let through at a time, and none that came after our lock.
   */
  inTurn<T>(_user: User, _command: LoginCommand, work: () => Promise<T>): Promise<T> {
    return work();
  }

  /** For a known user of this provider: is it the right credential? */
  abstract matches(user: User, command: LoginCommand, client: ClientInfo): Promise<boolean>;

  /** For a name that nobody has: the same work as for a known one, or the user that the provider vouches for. */
  abstract resolveUnknown(command: LoginCommand, client: ClientInfo): Promise<User | null>;

  /** After a success was recorded: brings up to date what only a right credential can. */
  abstract renew(user: User, command: LoginCommand, client: ClientInfo): Promise<void>;
}
