import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../../../audit/audit-trail';
import { saltOf } from '../../../hashing/bcrypt-format';
import { isPlainText, PasswordHasher } from '../../../hashing/password-hasher';
import { LegacySystem } from '../../../legacy/legacy-system';
import { PasswordChecks } from '../../../password-reset/password-checks';
import { Database } from '../../../platform/database/database';
import { changeType } from '../../../shared/change-type';
import type { ClientInfo } from '../../../shared/client-info';
import { Clock } from '../../../shared/clock';
import { DomainError } from '../../../shared/errors/domain-error';
import { legacyUnavailable } from '../../../shared/errors/error-catalogue';
import { LoginLock } from '../../../users/login-lock';
import { PasswordHistory } from '../../../users/password-change-log.repository';
import type { User } from '../../../users/user.entity';
import { UsersRepository } from '../../../users/users.repository';
import { isBlank } from './ldap/directory-attempt';
import { KeyedSemaphore } from './ldap/keyed-semaphore';

/**
 * The password of a user whose hash could not be brought along: the old system is asked, until the first right answer is
 * stored here (docs/spec/extensions.md#legacy-login, ADR 0049). A semaphore for each user allows at most as many parallel
 * questions as there are guesses left before the lock, so the old system sees no more guesses than this service counts.
 */
@Injectable()
export class LegacyPasswords {
  private readonly semaphore = new KeyedSemaphore({ perKey: 3, total: 32, waiting: 1000 }, legacyUnavailable);

  constructor(
    private readonly system: LegacySystem,
    private readonly hasher: PasswordHasher,
    private readonly lock: LoginLock,
    private readonly users: UsersRepository,
    private readonly checks: PasswordChecks,
    private readonly history: PasswordHistory,
    private readonly database: Database,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Whether the old system knows the password of this user, and nobody else does. */
  isAskedFor({ legacyLogin, password, provider }: User): boolean {
    return this.system.isOn && legacyLogin && password === null && provider === 'password';
  }

  /**
   * The comparison with no hash takes the work that an unknown name takes. The answer waits for both, so an old system that
   * is faster than a hash tells nobody which names it knows.
   * @throws DomainError LOGIN_401001 with the failure counted, LOGIN_401004 when the account is locked by then,
   *   LOGIN_503003 with nothing counted when there is no clear answer
   */
  async assertMatches(user: User, password: string, client: ClientInfo): Promise<void> {
    // allSettled, because neither of them may go on after the answer is sent.
    const [work, judged] = await Promise.allSettled([
      this.hasher.matches(password, null, client),
      this.judge(user, password, client),
    ]);
    if (work.status === 'rejected') throw work.reason;
    if (judged.status === 'rejected') throw judged.reason;
  }

  /**
   * Stores the hash of a right password. From then on the old system is asked no more. A password that breaks the policy
   * of this service has to be changed at once, because nobody has judged it before.
   */
  async adopt(user: User, password: string, hash: string, client: ClientInfo): Promise<User> {
    const mustChangePassword = user.mustChangePassword || (await this.checks.problemsOf(password, user)) !== '';
    await this.database.transaction(async (tx) => {
      if (!(await this.users.adoptPassword(tx, user, hash, mustChangePassword))) return;
      await this.history.append(tx, user.uid, changeType.first, hash, { language: client.language });
      const detail = { must_change_password: mustChangePassword };
      await this.audit.record(tx, 'USER_PASSWORD_ADOPTED', { userId: user.uid, client, detail });
    });
    const adopted = { password: hash, salt: saltOf(hash), legacyLogin: false, passwordSetAt: this.clock.now() };
    return { ...user, ...adopted, mustChangePassword };
  }

  /** For a right password that nothing can hash now. The next login stores it, but a weak one opens no session before. */
  async postpone(user: User, password: string): Promise<User> {
    return (await this.checks.problemsOf(password, user)) === '' ? user : this.demandAnother(user);
  }

  /** For a right password that bcrypt would truncate: it opens no session, and the next one is stored here. */
  async demandAnother(user: User): Promise<User> {
    await this.users.requirePasswordChange(this.database, user.uid);
    return { ...user, mustChangePassword: true };
  }

  /** A wrong password is counted before the semaphore admits the next question. */
  private judge(user: User, password: string, client: ClientInfo): Promise<void> {
    const { uid, loginName, email } = user;
    const until = performance.now() + this.system.timeoutMs;
    return this.semaphore.run(
      `user:${uid}`,
      until,
      () => this.lock.guessesLeft(user),
      async () => {
        // Some systems take an empty password for none, and end one at a NUL.
        if (isBlank(password) || !isPlainText(password)) await this.lock.recordFailure(user);
        const verdict = await this.system.judge({ loginName, email, password, requestId: client.requestId });
        if (verdict === 'away') throw new DomainError(legacyUnavailable);
        if (verdict === 'wrong') await this.lock.recordFailure(user);
      },
    );
  }
}
