import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import { userNotFound } from '../../../shared/errors/error-catalogue';
import { DirectorySettings } from '../../../directory/ldap-settings';
import { LoginNameSettings } from '../../../users/account-settings';
import { LoginLock } from '../../../users/login-lock';
import type { User } from '../../../users/user.entity';
import { UsersRepository } from '../../../users/users.repository';
import type { LoginCommand, PasswordChecker, TypedLogin } from '../login-command';
import type { CredentialProof, CredentialVerifier } from './credential-verifier';
import { EqualWork } from './equal-work';
import { LdapVerifier } from './ldap-verifier';
import { PasswordVerifier } from './password-verifier';

/** A login whose name was looked up. */
export interface NamedLogin {
  readonly command: LoginCommand;
  /** Null: the name leads to no account of the service. */
  readonly user: User | null;
}

export interface IdentifiedUser {
  readonly user: User;
  /** Set if the provider has accepted the credential already, because no account has the typed login name. */
  readonly accepted: CredentialProof | null;
}

/**
 * Chooses the verifier by `provider`. The provider of a user is fixed, so no other verifier is ever tried
 * (docs/spec/attacks.md#w19). With `auto` it is the one of the user, so the password of a local user never reaches the
 * directory.
 */
@Injectable()
export class CredentialVerifiers {
  private readonly verifiers: Readonly<Record<PasswordChecker, CredentialVerifier>>;

  constructor(
    private readonly users: UsersRepository,
    private readonly lock: LoginLock,
    private readonly work: EqualWork,
    private readonly names: LoginNameSettings,
    private readonly directory: DirectorySettings,
    password: PasswordVerifier,
    ldap: LdapVerifier,
  ) {
    this.verifiers = { password, ldap };
  }

  /** @throws DomainError COMMON_503001 when this login would wait too long for its check */
  assertCapacity(command: TypedLogin, client: ClientInfo): void {
    this.work.assertCapacity(command, client);
  }

  /**
   * Looks the name up, and finds the kind of account where the client leaves it open. One statement in every case.
   * An explicit `ldap` finds no local user by the address: a person of the directory may sign in with the same address.
   */
  async named(typed: TypedLogin): Promise<NamedLogin> {
    const { username, provider } = typed;
    const byEmail = this.names.byEmail && provider !== 'ldap';
    const user = await (byEmail ? this.users.findSigningIn(username) : this.users.findByLoginName(username));
    if (provider !== 'auto') return { command: { ...typed, provider }, user };
    // No password of a user of an identity provider is right: it is compared with none, as with an explicit `password`.
    const isHere = user?.provider === 'password' || user?.provider === 'oidc';
    if (isHere) return { command: { ...typed, provider: 'password' }, user };
    if (this.directory.ldap !== undefined) return { command: { ...typed, provider: 'ldap' }, user };
    // Nothing can check the password of a directory user, so the name is answered like an unknown one.
    return { command: { ...typed, provider: 'password' }, user: null };
  }

  /** @throws DomainError LOGIN_404001, after the same work as for a known user */
  async userOf({ command, user: known }: NamedLogin, client: ClientInfo): Promise<IdentifiedUser> {
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
