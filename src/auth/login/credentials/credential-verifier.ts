import type { ClientInfo } from '../../../shared/client-info';
import type { DirectoryPerson } from '../../../directory/person';
import type { User } from '../../../users/user.entity';
import type { LoginCommand } from '../login-command';

/** The account whose credential the provider has accepted. */
export interface CredentialProof {
  readonly user: User;
  /** The answer of the directory about a directory user. */
  readonly person?: DirectoryPerson;
  /** The end of the time limit for further questions to the directory, on the clock of `performance.now()`. */
  readonly askUntil?: number;
}

/** Checks the credential of a login for one provider. An outage throws a 503 error and must not count as a failure. */
export interface CredentialVerifier {
  /**
   * Checks the credential of a known user of this provider. A wrong credential is counted before the answer is sent.
   * @returns the account that the credential belongs to. A directory can tell that the login name is that of another one
   * @throws DomainError LOGIN_401001, or LOGIN_401004 when the account was locked before the failure was counted
   */
  assertMatches(user: User, command: LoginCommand, client: ClientInfo): Promise<CredentialProof>;

  /**
   * Handles a login name without a user, with the same work as for a known user.
   * @returns null when the provider accepts no credential for this name
   */
  resolveUnknown(command: LoginCommand, client: ClientInfo): Promise<CredentialProof | null>;

  /**
   * Called after the success is recorded. Renews values that need the right password, such as a hash of a lower cost, or
   * that the directory keeps.
   * @returns the account as it is now
   */
  renew(proof: CredentialProof, command: LoginCommand, client: ClientInfo): Promise<User>;
}
