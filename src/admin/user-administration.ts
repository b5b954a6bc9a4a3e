import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../audit/audit-trail';
import { Database } from '../platform/database/database';
import { changeType } from '../shared/change-type';
import { PasswordChecks, type PasswordOwner } from '../password-reset/password-checks';
import { TokenRevoker } from '../tokens/token-revoker';
import { isHashable, PasswordHasher } from '../hashing/password-hasher';
import { PasswordHistory } from '../users/password-history';
import { AccountProblem, type NewUser, UserAccounts } from '../users/user-accounts';
import type { MfaType, User } from '../users/user.entity';
import { UsersRepository } from '../users/users.repository';

/** `waived` skips the password policy: with `--force`, and for the accounts of the demo. */
export type PasswordRules = 'policy' | 'waived';

export interface NewPassword {
  readonly temporary: boolean;
  readonly rules: PasswordRules;
}

/**
 * Each change is one transaction. It commits the change, the end of the sessions, the entry of the password history and
 * the audit row together, or nothing.
 */
@Injectable()
export class UserAdministration {
  constructor(
    private readonly database: Database,
    private readonly users: UsersRepository,
    private readonly accounts: UserAccounts,
    private readonly hasher: PasswordHasher,
    private readonly history: PasswordHistory,
    private readonly revoker: TokenRevoker,
    private readonly audit: AuditTrail,
    private readonly checks: PasswordChecks,
  ) {}

  /** Finds a user by login name or uid. @throws AccountProblem if there is none */
  async find(nameOrUid: string): Promise<User> {
    const user = (await this.users.findByLoginName(nameOrUid)) ?? (await this.users.findByUid(nameOrUid));
    if (user === null) throw new AccountProblem(`there is no user ${JSON.stringify(nameOrUid)}`);
    return user;
  }

  /** @param rules whether the password policy applies; an operator may waive it. @throws AccountProblem */
  async hash(password: string, owner: PasswordOwner, rules: PasswordRules = 'policy'): Promise<string> {
    await this.assertAllowed(password, owner, rules);
    return this.hasher.hash(password, { ip: 'operator' });
  }

  /**
   * @throws AccountProblem if the policy refuses the password and is not waived, or if the password cannot be hashed
   */
  async assertAllowed(password: string, owner: PasswordOwner, rules: PasswordRules): Promise<void> {
    if (password === '' || !isHashable(password)) {
      throw new AccountProblem('the password must have 1 to 72 bytes in UTF-8 and no NUL character');
    }
    if (rules === 'waived') return;
    const problems = await this.checks.problemsOf(password, owner);
    if (problems !== '') {
      throw new AccountProblem(`the password does not meet the policy, ${problems}; --force accepts it anyway`);
    }
  }

  create(user: NewUser, event: 'USER_CREATED' | 'USER_IMPORTED' = 'USER_CREATED'): Promise<User> {
    return this.database.transaction(async (tx) => {
      const created = await this.accounts.create(tx, user);
      if (user.passwordHash !== null) await this.history.append(tx, created.uid, changeType.first, user.passwordHash);
      await this.audit.record(tx, event, { userId: created.uid });
      return created;
    });
  }

  /** Creates the user and rolls everything back, to find out whether `create` would fail. @throws AccountProblem */
  async rehearse(user: NewUser): Promise<void> {
    const rollback = new Error('rolled back');
    try {
      await this.database.transaction(async (tx) => {
        await this.accounts.create(tx, user);
        throw rollback;
      });
    } catch (error) {
      if (error !== rollback) throw error;
    }
  }

  async setPassword(user: User, password: string, { temporary, rules }: NewPassword): Promise<void> {
    if (user.provider !== 'password')
      throw new AccountProblem('a directory user has no password in this service: change it in the directory');
    const hash = await this.hash(password, user, rules);
    await this.database.transaction(async (tx) => {
      await this.users.setPassword(tx, user.uid, hash, { temporary });
      await this.history.append(tx, user.uid, changeType.administrator, hash);
      await this.revoker.markRevoked(tx, user.uid);
      await this.audit.record(tx, 'USER_PASSWORD_SET_BY_OPERATOR', { userId: user.uid, detail: { temporary } });
    });
  }

  async setStatus(user: User, status: number): Promise<void> {
    if (![1, 0, -1, -2].includes(status)) throw new AccountProblem('the status must be 1, 0, -1 or -2');
    await this.database.transaction(async (tx) => {
      await this.accounts.setStatus(tx, user.uid, status);
      if (status !== 1) await this.revoker.revokeAll(tx, user.uid);
      await this.audit.record(tx, 'USER_STATUS_CHANGED', {
        userId: user.uid,
        detail: { from: user.status, to: status },
      });
    });
  }

  async setMfaType(user: User, mfaType: MfaType): Promise<void> {
    await this.database.transaction(async (tx) => {
      if (await this.accounts.setMfaType(tx, user.uid, mfaType)) await this.revoker.endTrustedDevices(tx, user.uid);
      await this.audit.record(tx, 'MFA_TYPE_CHANGED', { userId: user.uid, detail: { to: mfaType } });
    });
  }

  async unlock(user: User): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.accounts.unlock(tx, user.uid);
      await this.audit.record(tx, 'USER_UNLOCKED', { userId: user.uid });
    });
  }

  revokeTokens(user: User): Promise<number> {
    return this.database.transaction(async (tx) => {
      const revoked = await this.revoker.revokeAll(tx, user.uid);
      await this.audit.record(tx, 'USER_TOKENS_REVOKED', { userId: user.uid, detail: { revoked } });
      return revoked;
    });
  }
}
