import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import { userNotFound } from '../../../shared/errors/error-catalogue';
import { LoginLock } from '../../../users/login-lock';
import type { Provider, User } from '../../../users/user.entity';
import { UsersRepository } from '../../../users/users.repository';
import type { LoginCommand } from '../login-command';
import type { CredentialProof, CredentialVerifier } from './credential-verifier';
import { EqualWork } from './equal-work';
import { LdapVerifier } from './ldap-verifier';
import { PasswordVerifier } from './password-verifier';

export interface IdentifiedUser {
  readonly user: User;
  /** Set if the provider has accepted the credential already, because no account has the typed login name. */
  readonly accepted: CredentialProof | null;
}

/**
 * Chooses the verifier by `provider`. The provider of a user is fixed, so no other verifier is ever tried
 * (docs/spec/attacks.md#w19).
 */
@Injectable()
export class CredentialVerifiers {
  private readonly verifiers: Readonly<Record<Provider, CredentialVerifier>>;

  constructor(
    private readonly users: UsersRepository,
    private readonly lock: LoginLock,
    private readonly work: EqualWork,
    password: PasswordVerifier,
    ldap: LdapVerifier,
  ) {
    this.verifiers = { password, ldap };
  }

  /** @throws DomainError COMMON_503001 when this login would wait too long for its check */
  assertCapacity(command: LoginCommand, client: ClientInfo): void {
    this.work.assertCapacity(command, client);
  }

  /** @throws DomainError LOGIN_404001, after the same work as for a known user */
  async userOf(command: LoginCommand, client: ClientInfo): Promise<IdentifiedUser> {
    const known = await this.users.findByLoginName(command.username);
    if (known) return { user: known, accepted: null };
    const verifier = this.verifiers[command.provider];
    const accepted = await this.work.beside(command, client, async () => {
      const found = await verifier.resolveUnknown(command, client);
      if (found === null) await this.work.countForNobody();
      return found;
    });
    if (accepted) return { user: accepted.user, accepted };
    throw new DomainError(userNotFound);
  }

  /** @throws DomainError LOGIN_401004; with `HIDE_ACCOUNT_EXISTENCE` after the same work as for a wrong password */
  async assertOpen(user: User, command: LoginCommand, client: ClientInfo): Promise<void> {
    try {
      this.lock.assertOpen(user);
    } catch (refusal) {
      await this.work.spend(command, client);
      await this.work.countForNobody();
      throw refusal;
    }
  }

  /** @throws DomainError LOGIN_401001 with the failure counted; LOGIN_401004 when the account is locked by then */
  assertValid(user: User, command: LoginCommand, client: ClientInfo): Promise<CredentialProof> {
    return this.work.beside(command, client, () => this.verify(user, command, client));
  }

  /** Call it only after the success is recorded: a refused login must not change the account. */
  renew(proof: CredentialProof, command: LoginCommand, client: ClientInfo): Promise<User> {
    return this.verifiers[command.provider].renew(proof, command, client);
  }

  private async verify(user: User, command: LoginCommand, client: ClientInfo): Promise<CredentialProof> {
    if (user.provider !== command.provider) return this.refuseForeign(user, command, client);
    return this.verifiers[command.provider].assertMatches(user, command, client);
  }

  /** Refuses a user of the other provider. Any password takes the same work and is answered like a wrong one. */
  private async refuseForeign(user: User, command: LoginCommand, client: ClientInfo): Promise<never> {
    if (command.provider === 'password') await this.verifiers.password.resolveUnknown(command, client);
    return this.lock.recordFailure(user);
  }
}
