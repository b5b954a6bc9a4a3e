import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import { userNotFound } from '../../../shared/errors/error-catalogue';
import { identityKey } from '../../../shared/identity-key';
import { Directory, type DirectoryCredential } from '../../../directory/directory';
import type { DirectoryEntry, Verdict } from '../../../directory/verdict';
import { AppConfig } from '../../../platform/config/app-config';
import { LoginLock } from '../../../users/login-lock';
import type { User } from '../../../users/user.entity';
import type { LoginCommand } from '../login-command';
import { CredentialVerifier } from './credential-verifier';
import { KeyedSemaphore } from './ldap/keyed-semaphore';
import { Provisioning } from './ldap/provisioning';
import { UnknownGuesses } from './ldap/unknown-guesses';

/** One time limit for the wait for the semaphore and all servers. An outage must be answered within 5 s. */
const budgetMs = 4400;

/**
 * Checks a credential by a search and a bind at the directory (docs/spec/decisions.md#7). An outage is answered
 * LOGIN_503001, never like a wrong password. A semaphore for each user allows at most as many parallel binds as there
 * are guesses left before the lock.
 */
@Injectable()
export class LdapVerifier extends CredentialVerifier {
  readonly provider = 'ldap';
  private readonly semaphore = new KeyedSemaphore({ perKey: 3, total: 32, waiting: 1000 });

  constructor(
    private readonly directory: Directory,
    private readonly lock: LoginLock,
    private readonly guesses: UnknownGuesses,
    private readonly provisioning: Provisioning,
    private readonly config: AppConfig,
  ) {
    super();
  }

  /** Always succeeds, because an LDAP login computes no hash and so needs no capacity of the hash queue. */
  assertCapacity(): void {}

  /**
   * Searches by the stored login name, never by the typed name. Otherwise each alias of a directory entry would have a
   * failure counter of its own (docs/spec/attacks.md#w19). A wrong password is counted before the semaphore admits the
   * next login, so that login reads the number of guesses left after all earlier failures.
   */
  async assertMatches(user: User, command: LoginCommand): Promise<void> {
    const until = performance.now() + budgetMs;
    const guessesLeft = async () => {
      const now = await this.lock.assertStillOpen(user);
      if (now === null) throw new DomainError(userNotFound);
      return Math.max(1, this.config.lock.maxCount - now.loginFailedCount);
    };
    await this.semaphore.run(`user:${user.uid}`, until, guessesLeft, async () => {
      if (isBlank(command.password)) return this.lock.recordFailure(user);
      const credential = { name: user.loginName, password: command.password, exactName: false };
      const verdict = await this.directory.judge(credential, until);
      // The verdict `refused` can prove that the password is right. A guess after the lock must not learn this.
      if (verdict.kind === 'refused') await this.lock.assertStillOpen(user);
      if (acceptedEntry(verdict) === undefined) await this.lock.recordFailure(user);
    });
  }

  /**
   * With just-in-time provisioning, creates the account of a user whom the directory accepts. Otherwise returns null.
   */
  async resolveUnknown(command: LoginCommand, client: ClientInfo): Promise<User | null> {
    const { ldap } = this.config;
    const name = command.username.normalize('NFKC').trim();
    const key = identityKey(name);
    if (!ldap?.jitProvisioning || isBlank(command.password) || key === '' || key.length > 255) return null;
    const credential: DirectoryCredential = { name, password: command.password, exactName: true };
    const until = performance.now() + budgetMs;
    const guessesLeft = () => this.guesses.left(key);
    return this.semaphore.run(`name:${key}`, until, guessesLeft, async () => {
      const verdict = await this.directory.judge(credential, until);
      if (verdict.kind === 'unknown') return null;
      if (verdict.kind === 'refused') await this.guesses.left(key);
      const entry = acceptedEntry(verdict) ?? (await this.guesses.recordFailure(key));
      return this.provisioning.accountOf(entry, key, client);
    });
  }

  /** Does nothing, because the directory stores the password. */
  renew(): Promise<void> {
    return Promise.resolve();
  }
}

/** @throws DomainError when the state of the account at the directory forbids the login */
function acceptedEntry(verdict: Verdict): DirectoryEntry | undefined {
  if (verdict.kind === 'refused') throw new DomainError(verdict.answer);
  return verdict.kind === 'right' ? verdict.entry : undefined;
}

/**
 * A bind with an empty password succeeds for everybody (RFC 4513 §5.1.2), and some servers treat a password that
 * begins with NUL as empty (docs/spec/attacks.md#w18).
 */
function isBlank(password: string): boolean {
  return password.trim() === '' || password.includes('\0');
}
