import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import { userNotFound } from '../../../shared/errors/error-catalogue';
import { identityKey } from '../../../shared/identity-key';
import { Directory } from '../../../directory/directory';
import type { DirectoryPerson } from '../../../directory/person';
import { directoryBudgetMs } from '../../../directory/ldap-limits';
import { DirectorySettings } from '../../../directory/ldap-settings';
import { LoginLock } from '../../../users/login-lock';
import type { User } from '../../../users/user.entity';
import { AccountRefused } from '../account-refused';
import type { LoginCommand } from '../login-command';
import type { CredentialProof, CredentialVerifier } from './credential-verifier';
import { type Attempt, type Entry, isBlank, type Known, refusalOf } from './ldap/directory-attempt';
import { DirectoryFollower } from './ldap/directory-follower';
import { EntryAttributes } from './ldap/entry-attributes';
import { EntryOwners, type RefusalReason } from './ldap/entry-owners';
import { KeyedSemaphore } from './ldap/keyed-semaphore';
import { Provisioning } from './ldap/provisioning';
import { UnknownGuesses } from './ldap/unknown-guesses';

/**
 * Checks a credential at the directory (docs/spec/decisions.md#7). The name only finds the entry; the id of the entry
 * tells the account, so every name that the filter accepts leads to one account with one failure counter. An outage is
 * answered LOGIN_503001, never like a wrong password. A semaphore for each user allows at most as many parallel binds
 * as there are guesses left before the lock.
 */
@Injectable()
export class LdapVerifier implements CredentialVerifier {
  private readonly semaphore = new KeyedSemaphore({ perKey: 3, total: 32, waiting: 1000 });

  constructor(
    private readonly directory: Directory,
    private readonly owners: EntryOwners,
    private readonly lock: LoginLock,
    private readonly guesses: UnknownGuesses,
    private readonly provisioning: Provisioning,
    private readonly follower: DirectoryFollower,
    private readonly attributes: EntryAttributes,
    private readonly directorySettings: DirectorySettings,
  ) {}

  /** Searches by the stored login name. A wrong password is counted before the semaphore admits the next login. */
  async assertMatches(user: User, { password }: LoginCommand, client: ClientInfo): Promise<CredentialProof> {
    const attempt = { password, until: performance.now() + directoryBudgetMs, client };
    const found = await this.alone(user, attempt, async () => {
      if (isBlank(password)) return this.lock.recordFailure(user);
      const { user: owner, person } = await this.ownerOf(user, attempt);
      return owner?.uid === user.uid ? this.judged({ user, person }, attempt) : { owner, person };
    });
    if ('user' in found) return found;
    const { owner, person } = found;
    return owner === null ? this.asSuccessor(person, attempt) : this.asOwner({ user: owner, person }, attempt);
  }

  /**
   * A name without an account can be another name of a known person. With just-in-time provisioning, this creates the
   * account of a person who has none.
   */
  async resolveUnknown(command: LoginCommand, client: ClientInfo): Promise<CredentialProof | null> {
    const name = command.username.normalize('NFKC').trim();
    const key = identityKey(name);
    const { password } = command;
    if (!this.directorySettings.ldap?.jitProvisioning || isBlank(password) || key === '' || key.length > 255)
      return null;
    const attempt = { password, until: performance.now() + directoryBudgetMs, client };
    const permits = () => this.guesses.left(key);
    const found = await this.semaphore.run(`name:${key}`, attempt.until, permits, () =>
      this.directory.find({ name }, attempt.until),
    );
    if (found.kind === 'nobody') return null;
    if (found.kind === 'several') {
      await this.owners.recordRefusal('several', undefined, client);
      return this.guesses.recordFailure(key);
    }
    const { person } = found;
    const owner = await this.owners.ofAlias(person, key);
    if (owner === 'unsafe') return null;
    if (owner.kind === 'nobody') return this.newcomer(person, person.id ?? key, attempt);
    const { kind, account } = owner;
    if (kind === 'account') return this.asOwner({ user: account, person }, attempt);
    if (kind === 'stranger' && (await this.attributes.release(account, attempt))) {
      return this.newcomer(person, person.id ?? key, attempt);
    }
    return this.attributed(account, () => this.refuse(kind, account, client));
  }

  /** Writes what the directory says about the user. The directory itself stores the password. */
  async renew(proof: CredentialProof, _command: LoginCommand, client: ClientInfo): Promise<User> {
    return this.follower.follow(proof, client);
  }

  /**
   * The entry that has the login name now, and its account: usually this one. The account can be that of a colleague
   * who had the name before. Its name then follows the entry of the colleague, and the entry has no account yet.
   */
  private async ownerOf(user: User, attempt: Attempt): Promise<Entry> {
    const { until, client } = attempt;
    const named = await this.directory.find({ name: user.loginName }, until);
    if (named.kind === 'several') return this.refuse('several', user, client);
    if (named.kind === 'person') {
      const owner = await this.owners.amongNamed(named.person, user);
      if (owner.kind === 'account') return { user: owner.account, person: named.person };
      const freed = owner.kind === 'stranger' && named.person.id !== null;
      if (freed && (await this.attributes.release(user, attempt))) return { user: null, person: named.person };
      return this.refuse(owner.kind, user, client);
    }
    const renamed = user.directoryId === null ? named : await this.directory.find({ id: user.directoryId }, until);
    return renamed.kind === 'person' ? { user, person: renamed.person } : this.lock.recordFailure(user);
  }

  private asOwner(owner: Known, attempt: Attempt): Promise<CredentialProof> {
    const judge = () => this.alone(owner.user, attempt, () => this.judged(owner, attempt));
    return this.attributed(owner.user, judge);
  }

  /** Binds as the entry, and counts a wrong password for the account. */
  private async judged({ user, person }: Known, attempt: Attempt): Promise<CredentialProof> {
    const verdict = await this.directory.judge(person, attempt.password, attempt.until);
    if (verdict.kind === 'wrong' || verdict.kind === 'unknown') return this.lock.recordFailure(user);
    const refusal = refusalOf(verdict, person);
    if (refusal === undefined) return { user, person, askUntil: attempt.until };
    // The refusal can prove that the password is right. A guess after the lock must not learn this.
    await this.lock.assertStillOpen(user);
    throw new DomainError(refusal);
  }

  /** @param key the guesses are counted under the id of the entry, so all names of the person share them */
  private async newcomer(person: DirectoryPerson, key: string, attempt: Attempt): Promise<CredentialProof | null> {
    const permits = () => this.guesses.left(key);
    return this.semaphore.run(`name:${key}`, attempt.until, permits, async () => {
      const verdict = await this.directory.judge(person, attempt.password, attempt.until);
      if (verdict.kind === 'unknown') return null;
      if (verdict.kind === 'wrong') return this.guesses.recordFailure(key);
      const refusal = refusalOf(verdict, person);
      if (refusal !== undefined) {
        await this.guesses.left(key);
        throw new DomainError(refusal);
      }
      const user = await this.provisioning.accountOf(person, attempt.client);
      return user === null ? null : { user, person, askUntil: attempt.until };
    });
  }

  /** A person who has the former login name of a colleague. No account has the name any more. */
  private asSuccessor(person: DirectoryPerson, attempt: Attempt): Promise<CredentialProof> {
    return this.attributed(null, async () => {
      const known = this.directorySettings.ldap?.jitProvisioning && person.id !== null;
      const proof = known ? await this.newcomer(person, person.id, attempt) : null;
      if (proof === null) throw new DomainError(userNotFound);
      return proof;
    });
  }

  private alone<T>(user: User, { until }: Attempt, work: () => Promise<T>): Promise<T> {
    return this.semaphore.run(`user:${user.uid}`, until, () => this.lock.guessesLeft(user), work);
  }

  /** Nothing was compared, but the answer and the count are those of a wrong password. */
  private async refuse(reason: RefusalReason, user: User, client: ClientInfo): Promise<never> {
    await this.owners.recordRefusal(reason, user, client);
    return this.lock.recordFailure(user);
  }

  /** The refusal is recorded for the account, not for the name that was typed. */
  private async attributed<T>(user: User | null, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof DomainError ? new AccountRefused(error, user) : error;
    }
  }
}
