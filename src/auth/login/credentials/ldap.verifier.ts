import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import { userNotFound } from '../../../shared/errors/error-catalogue';
import { identityKey } from '../../../shared/identity-key';
import { AppConfig } from '../../../platform/config/app-config';
import { LoginLock } from '../../../users/login-lock';
import type { User } from '../../../users/user.entity';
import { CredentialVerifier, type LoginCommand } from './credential-verifier';
import { Directory, type DirectoryCredential } from '../../../directory/directory';
import { Provisioning } from './ldap/provisioning';
import { Turns } from './ldap/turns';
import { UnknownGuesses } from './ldap/unknown-guesses';
import type { Verdict } from '../../../directory/verdict';

/** From the arrival at this step to the answer, waiting and all servers included; the contract says five seconds. */
const patienceMs = 4400;

/** Search and bind at the directory (§1.2, decisions.md 7). An outage is LOGIN_503001 and never a wrong password. */
@Injectable()
export class LdapVerifier extends CredentialVerifier {
  readonly provider = 'ldap';
  private readonly turns = new Turns({ perKey: 3, total: 32, waiting: 1000 });
  private readonly deadlines = new WeakMap<LoginCommand, number>();
  /** Commands whose credential the directory has just accepted, on the way to an account. */
  private readonly proven = new WeakSet<LoginCommand>();

  constructor(
    private readonly directory: Directory,
    private readonly lock: LoginLock,
    private readonly guesses: UnknownGuesses,
    private readonly provisioning: Provisioning,
    private readonly config: AppConfig,
  ) {
    super();
  }

  /** The directory judges, and nobody waits for a hash. */
  assertRoom(): void {}

  /** Read afresh when the turn comes: what the guesses before it have counted is in the row by then. */
  override inTurn<T>(user: User, command: LoginCommand, work: () => Promise<T>): Promise<T> {
    const { maxCount } = this.config.lock;
    const guessesLeft = async () => {
      const now = await this.lock.assertStillOpen(user);
      if (now === null) throw new DomainError(userNotFound);
      return Math.max(1, maxCount - now.loginFailedCount);
    };
    return this.turns.take(`user:${user.uid}`, this.deadlineOf(command), guessesLeft, work);
  }

  /** By the user's own login name, not the typed one: one account, one entry, one counter (W19). */
  async matches(user: User, command: LoginCommand): Promise<boolean> {
    if (this.proven.has(command)) return true;
    if (isBlank(command.password)) return false;
    const verdict = await this.judge({ name: user.loginName, exactName: false }, command);
    // A state tells that the password is right, so a guess after our lock must not learn it.
    if (verdict.kind === 'refused') await this.lock.assertStillOpen(user);
    return accepted(verdict) !== undefined;
  }

  /** Just in time, where that is wanted; otherwise the directory is not touched. */
  async resolveUnknown(command: LoginCommand, client: ClientInfo): Promise<User | null> {
    const { ldap } = this.config;
    const name = command.username.normalize('NFKC').trim();
    const key = identityKey(name);
    if (!ldap?.jitProvisioning || isBlank(command.password) || key === '' || key.length > 255) return null;
    return this.turns.take(
      `name:${key}`,
      this.deadlineOf(command),
      () => this.guesses.left(key),
      async () => {
        const verdict = await this.judge({ name, exactName: true }, command);
        if (verdict.kind === 'unknown') return null;
        if (verdict.kind === 'refused') await this.guesses.left(key);
        const entry = accepted(verdict) ?? (await this.guesses.recordFailure(key));
        this.proven.add(command);
        return this.provisioning.accountOf(entry, key, client);
      },
    );
  }

  /** The password is the directory's. */
  renew(): Promise<void> {
    return Promise.resolve();
  }

  private judge(entry: Omit<DirectoryCredential, 'password'>, command: LoginCommand): Promise<Verdict> {
    return this.directory.judge({ ...entry, password: command.password }, this.deadlineOf(command));
  }

  private deadlineOf(command: LoginCommand): number {
    const deadline = this.deadlines.get(command) ?? performance.now() + patienceMs;
    this.deadlines.set(command, deadline);
    return deadline;
  }
}

/** The entry of a right credential. @throws DomainError where the account's state at the directory refused it. */
function accepted(verdict: Verdict) {
  if (verdict.kind === 'refused') throw new DomainError(verdict.answer);
  return verdict.kind === 'right' ? verdict.entry : undefined;
}

/** A bind without a password succeeds for everybody (RFC 4513 §5.1.2); with NUL some servers see none (W18). */
function isBlank(password: string): boolean {
  return password.trim() === '' || password.includes('\0');
}
