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
  abstract assertRoom(client: ClientInfo): void;

  /**
   * For a known user of this provider. Counts a wrong credential before it is answered.
   * @throws DomainError LOGIN_401001, or LOGIN_401004 when the account was locked before the failure was counted
   */
  abstract assertMatches(user: User, command: LoginCommand, client: ClientInfo): Promise<void>;

  /**
   * For an unknown name: does the same work as for a known one.
   * @returns the user whose credential the provider has accepted, otherwise null
   */
  abstract resolveUnknown(command: LoginCommand, client: ClientInfo): Promise<User | null>;

  /** After a success was recorded: brings up to date what only a right credential can. */
  abstract renew(user: User, command: LoginCommand, client: ClientInfo): Promise<void>;
}
