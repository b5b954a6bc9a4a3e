import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit-trail';
import { isHashable, PasswordHasher } from '../hashing/password-hasher';
import { IdentityProviderChanges } from '../identity-providers/identity-provider-changes';
import { BroughtTotp } from '../mfa/brought-totp';
import { Mailer } from '../mail/mailer';
import { PasswordChecks, type PasswordOwner } from '../password-reset/password-checks';
import { UserInvitations } from '../password-reset/user-invitations';
import { Database, type Transaction } from '../platform/database/database';
import { changeType } from '../shared/change-type';
import {
  identityTaken,
  notFoundForCaller,
  notPermitted,
  passwordPolicyViolated,
} from '../shared/errors/error-catalogue';
import { identityKey } from '../shared/identity-key';
import { type Language, languageFor } from '../shared/languages';
import { usableAddress } from '../shared/mail-address';
import { Random } from '../shared/random';
import { isUuid } from '../shared/uuid';
import { TokenRevoker } from '../sessions/token-revoker';
import { SubjectIds } from '../users/subject-ids';
import { PasswordHistory } from '../users/password-change-log.repository';
import { AccountProblem, type NewUser, UserAccounts } from '../users/user-accounts';
import { administrates } from '../users/rights';
import type { User } from '../users/user.entity';
import { UsersRepository } from '../users/users.repository';
import { AdminChanges, type Change } from './admin-changes';
import { isWithin } from './admin-scope';
import { type Authority, foreignChange, rulesAdministrators } from './authority';
import { assertProviderOf } from './provider-of-user';
import { TargetUsers } from './target-users';

/** The end of the message for the operator, who may waive the policy. */
export const forceHint = '; --force accepts it anyway';

/** `waived` skips the password policy: with `--force`, and for the accounts of the demo. */
export type PasswordRules = 'policy' | 'waived';

export interface NewPassword {
  readonly temporary: boolean;
  readonly rules: PasswordRules;
}

/** A new user, and the authenticator that the user brings along: a secret of `totpSecretOf`. */
export type ImportedUser = NewUser & { readonly totp?: string };

/**
 * Creates accounts and sets passwords. Each change is one transaction. It commits the change, the end of the sessions,
 * the entry of the password history and the audit row together, or nothing.
 */
@Injectable()
export class UserAdministration {
  constructor(
    private readonly database: Database,
    private readonly changes: AdminChanges,
    private readonly targets: TargetUsers,
    private readonly users: UsersRepository,
    private readonly accounts: UserAccounts,
    private readonly ids: SubjectIds,
    private readonly hasher: PasswordHasher,
    private readonly history: PasswordHistory,
    private readonly revoker: TokenRevoker,
    private readonly checks: PasswordChecks,
    private readonly invitations: UserInvitations,
    private readonly mailer: Mailer,
    private readonly random: Random,
    private readonly providers: IdentityProviderChanges,
    private readonly brought: BroughtTotp,
  ) {}

  /**
   * Finds a user by login name or uid. A login name comes first, because an id of another system may be the login name of somebody else.
   * A UUID is first looked up as the uid, also of a deleted user: the administrator of a tenant could make an account with this
   * UUID as its login name, and an operator would give that account rights.
   * @throws AccountProblem if there is none
   */
  async find(nameOrUid: string): Promise<User> {
    const uuid = identityKey(nameOrUid);
    const byUid = () => this.users.findByUid(nameOrUid.trim());
    // An import may have kept a UUID in upper case, and uids are compared byte by byte.
    const owner = isUuid(uuid) ? ((await byUid()) ?? (await this.users.findByUid(uuid))) : null;
    const user = owner ?? (await this.users.findByLoginName(nameOrUid)) ?? (await byUid());
    if (user !== null && user.deletedAt === null) return user;
    throw new AccountProblem(`there is no user ${JSON.stringify(nameOrUid)}`, notFoundForCaller);
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
      const problem = 'the password must have 1 to 72 bytes in UTF-8 and no NUL character';
      throw new AccountProblem(problem, passwordPolicyViolated);
    }
    if (rules === 'waived') return;
    const problems = await this.checks.problemsOf(password, owner);
    if (problems !== '') {
      const problem = `the password does not meet the policy, ${problems}${forceHint}`;
      throw new AccountProblem(problem, passwordPolicyViolated);
    }
  }

  /** @throws AccountProblem */
  create(by: Authority, user: ImportedUser, event: 'USER_CREATED' | 'USER_IMPORTED' = 'USER_CREATED'): Promise<User> {
    assertPermittedPlace(by, user);
    const work = (change: Change) => this.createIn(change, by, user, event);
    return user.uid === undefined ? this.changes.make(by, work) : this.changes.makeWithIds(by, work);
  }

  /**
   * Creates the user together with the mail that lets the user choose the first password.
   * @param language when the account has none
   * @throws AccountProblem
   */
  async createInvited(by: Authority, user: NewUser, language: Language): Promise<User> {
    assertPermittedPlace(by, user);
    if (user.provider === 'oidc') {
      throw new AccountProblem('a user of an identity provider chooses no password here: leave out invite', 'provider');
    }
    if (usableAddress(user.email) === null) throw new AccountProblem('an invitation needs an e-mail address', 'email');
    const uid = this.random.uuid();
    // The gate row of a user stays for ever, so it is not made for a user who cannot be created.
    await this.rehearse(by, user);
    return this.changes.makeWithLinks(by, uid, async (change) => {
      const created = await this.createIn(change, by, user, 'USER_CREATED', uid);
      await this.invitations.invite(change.tx, created, languageFor(created.language, language));
      await change.record('USER_INVITED', { userId: uid });
      return created;
    });
  }

  /** Creates the user and rolls everything back, to find out whether `create` would fail. @throws AccountProblem */
  async rehearse(by: Authority, user: NewUser): Promise<void> {
    assertPermittedPlace(by, user);
    const rollback = new Error('rolled back');
    try {
      await this.database.transaction(async (tx) => {
        await this.insert(tx, by, user);
        throw rollback;
      });
    } catch (error) {
      if (error !== rollback) throw error;
    }
  }

  /**
   * Race: a move to another kind of sign-in while the password is hashed. If it commits first, the locked row tells, and the password
   * is refused. If it comes later, it takes the new password away.
   * @throws AccountProblem
   */
  async setPassword(by: Authority, user: User, password: string, { temporary, rules }: NewPassword): Promise<void> {
    assertOwnPassword(user);
    const hash = await this.hash(password, user, rules);
    await this.changes.make(by, async ({ tx, record }) => {
      const owner = await this.targets.lock(tx, by, user.uid);
      assertOwnPassword(owner);
      await this.users.setPassword(tx, user.uid, hash, { temporary });
      await this.history.append(tx, user.uid, changeType.administrator, hash);
      await this.revoker.markRevoked(tx, user.uid);
      await this.mailer.queueAccountChanged(tx, owner, foreignChange('passwordSet', by));
      await record('USER_PASSWORD_SET_BY_OPERATOR', { userId: user.uid, detail: { temporary } });
    });
  }

  private async insert(tx: Transaction, by: Authority, user: NewUser, uid?: string): Promise<User> {
    await assertProviderOf(tx, this.providers, by, user);
    if (!rulesAdministrators(by)) await this.accounts.assertNoAddressOfOthers(tx, user.loginName, user.tenantId);
    if (user.uid !== undefined) assertNoClient(await this.ids.elsewhere('a user', [user.uid], tx), user.uid);
    return this.accounts.create(tx, user, uid);
  }

  private async createIn(
    change: Change,
    by: Authority,
    user: ImportedUser,
    event: AuditEvent,
    uid?: string,
  ): Promise<User> {
    const created = await this.insert(change.tx, by, user, uid);
    if (user.passwordHash !== null) {
      await this.history.append(change.tx, created.uid, changeType.first, user.passwordHash, {
        setAt: user.passwordSetAt,
      });
    }
    const { totp } = user;
    if (totp !== undefined) await this.brought.store(change.tx, created, totp);
    await change.record(event, { userId: created.uid, ...(totp === undefined ? {} : { detail: { totp: true } }) });
    const { uid: userId, role } = created;
    if (role !== null) await change.record('USER_ROLE_CHANGED', { userId, detail: { role } });
    return created;
  }
}

/** @throws AccountProblem */
function assertOwnPassword({ provider }: User): void {
  if (provider === 'password') return;
  throw new AccountProblem('the user has no password in this service: change it where the user signs in');
}

/** @param clients of `SubjectIds`. @throws AccountProblem */
export function assertNoClient(clients: ReadonlyMap<string, string>, uid: string): void {
  const what = clients.get(uid);
  if (what !== undefined) throw new AccountProblem(`the uid is the id of ${what}`, identityTaken);
}

/**
 * All tenants share one directory, and the first login of a person binds the entry to the account with that login name. So
 * an administrator of a tenant would bring a person of another tenant into the own one, with the account that this
 * administrator made first.
 * @throws AccountProblem AUTH_403001 for another tenant, an administrator, a holder of a role and a directory user, unless the caller rules all
 */
function assertPermittedPlace(by: Authority, { tenantId, isAdmin, role = null, provider }: NewUser): void {
  const privileged = administrates({ isAdmin, role });
  // The operator has chosen the kind of sign-in (`SCIM_USER_PROVIDER`).
  if (by.provisioning && !privileged && isWithin(by.scope, tenantId)) return;
  if (rulesAdministrators(by) || (tenantId === by.scope.tenantId && !privileged && provider !== 'ldap')) return;
  throw new AccountProblem(
    'only administrators of the root tenant create administrators, holders of a role, directory users and users elsewhere',
    notPermitted,
  );
}
