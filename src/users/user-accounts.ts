import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import type { Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { isDuplicate } from '../platform/database/store-failure';
import { Clock } from '../shared/clock';
import { identityTaken } from '../shared/errors/error-catalogue';
import { identityKey } from '../shared/identity-key';
import { languages } from '../shared/languages';
import { isPlainAddress } from '../shared/mail-address';
import { isPlainText, plainTextRule } from '../shared/plain-text';
import { Random } from '../shared/random';
import { isUserId } from '../shared/user-id';
import { AccountProblem } from './account-problem';
import { assertOrgUnit } from './org-unit.repository';
import { assertTenant } from './tenant.repository';
import type { SignInPlace } from './provider-moves';
import { lengthOf, placesOf } from './user-columns';
import { textFields } from './user-fields';
import { changedValues, type NewUser, newRow, type UserChange } from './user-values';
import { wireNameOf } from './user-wire';
import { roles, User, userStatus } from './user.entity';
import { UserWords } from './user-words.repository';

export { AccountProblem } from './account-problem';
export type { NewUser, UserChange } from './user-values';

const statuses: readonly number[] = Object.values(userStatus);

/** A change of these changes the words of the search. */
const namingFields = ['email', 'nickname', 'tenantId'] as const satisfies readonly (keyof UserChange)[];

/** Creates and changes accounts: for the command line, the import, and the first login of a directory user. */
@Injectable()
export class UserAccounts {
  constructor(
    @InjectRepository(User) private readonly rows: Repository<User>,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly words: UserWords,
  ) {}

  /**
   * Race: two creations with the same name or address. The unique keys decide, and the loser gets an AccountProblem.
   * @throws AccountProblem when a name or address is taken or malformed, or the tenant or unit does not exist
   */
  async create(tx: Transaction, user: NewUser, uid = user.uid ?? this.random.uuid()): Promise<User> {
    assertWellFormed(user);
    await assertPlace(tx, user);
    const row = this.rows.create(newRow({ ...user, uid }, this.clock.now()));
    try {
      const values = { ...row, nicknameKey: () => 'LOWER(:nickname)' };
      const insert = tx.manager.createQueryBuilder().insert().into(User).values(values);
      await insert.setParameter('nickname', row.nickname).execute();
    } catch (error) {
      throw isDuplicate(error) ? identityIsTaken(user.uid) : error;
    }
    await this.words.add(tx, [row]);
    return row;
  }

  /**
   * Changes the fields that are given. The transaction must hold the row of the user.
   * Races with any account that takes the address: the unique key decides, and the loser gets an AccountProblem.
   * @throws AccountProblem
   */
  async change(tx: Transaction, user: User, change: UserChange): Promise<void> {
    assertWellFormedChange(change);
    assertOneRight({
      isAdmin: change.isAdmin ?? user.isAdmin,
      role: change.role === undefined ? user.role : change.role,
    });
    const { tenantId = user.tenantId } = change;
    // A unit belongs to one tenant.
    const orgUnitId = change.orgUnitId ?? (change.orgUnitId === null || tenantId !== user.tenantId ? null : undefined);
    await assertPlace(tx, { tenantId, orgUnitId: orgUnitId ?? null });
    const enabledAt = change.status === userStatus.enabled ? this.clock.now() : undefined;
    const set = placesOf({ ...changedValues({ ...change, orgUnitId }), enabledAt });
    if (set.length === 0) return;
    try {
      await tx.won(
        `UPDATE users SET ${set.map(({ column, place }) => `${column} = ${place}`).join(', ')} WHERE uid = ?`,
        [...set.map(({ value }) => value), user.uid],
      );
    } catch (error) {
      throw isDuplicate(error) ? identityIsTaken() : error;
    }
    if (namingFields.some((field) => change[field] !== undefined)) await this.words.follow(tx, user.uid);
  }

  /**
   * Gives the account another login name. The transaction must hold the row of the user.
   * Races with any account that takes the name: the unique key decides, and the loser gets an AccountProblem.
   * @throws AccountProblem
   */
  async rename(tx: Transaction, { uid }: User, loginName: string): Promise<void> {
    assertLoginName(loginName);
    try {
      const name = { loginName: loginName.trim(), loginNameKey: identityKey(loginName) };
      if (!(await new EntityRows(this.rows, tx).won(tx, { uid, deletedAt: IsNull() }, name))) return;
    } catch (error) {
      throw isDuplicate(error) ? identityIsTaken() : error;
    }
    await this.words.follow(tx, uid);
  }

  /**
   * A login name wins over an address (`findSigningIn`). An account whose login name is the address of a stranger would keep
   * the stranger from signing in, and its tenant would read the attempts in the logs. Callers without rights over all
   * accounts ask here first. Race: if the owner gets the address at the same moment or later, this check does not see it.
   * @param tenantId the tenant whose addresses the caller may change anyway; without it there is no such tenant
   * @throws AccountProblem when the name is the address by which somebody else signs in
   */
  async assertNoAddressOfOthers(sql: Sql, loginName: string, tenantId?: string): Promise<void> {
    const owner = await sql.row<{ tenantId: string }>(
      `SELECT tenant_id AS tenantId FROM users WHERE email_key = ? AND provider = 'password'`,
      [identityKey(loginName)],
    );
    if (owner !== undefined && owner.tenantId !== tenantId) throw identityIsTaken();
  }

  /** Ends the lock after wrong passwords and the block after wrong codes. */
  unlock(sql: Sql, uid: string): Promise<boolean> {
    const unlocked = { loginFailedCount: 0, lastLoginFailedTime: null, mfaFailedCount: 0, mfaBlockedUntil: null };
    return new EntityRows(this.rows, sql).won(sql, { uid }, unlocked);
  }
}

/** @param uid the uid that the caller has chosen */
export const identityIsTaken = (uid?: string) =>
  new AccountProblem(
    uid === undefined
      ? 'the login name or the e-mail address is taken'
      : 'the uid, the login name or the e-mail address is taken',
    identityTaken,
  );

async function assertPlace(sql: Sql, { tenantId, orgUnitId }: Pick<NewUser, 'tenantId' | 'orgUnitId'>): Promise<void> {
  await assertTenant(sql, tenantId);
  if (orgUnitId !== null) await assertOrgUnit(sql, orgUnitId, tenantId);
}

/** @throws AccountProblem when a field is malformed or too long */
export function assertWellFormed(user: NewUser): void {
  if (user.uid !== undefined && !isUserId(user.uid)) {
    throw new AccountProblem('the uid must have 1 to 36 characters out of A-Z, a-z, 0-9, _ and -');
  }
  assertLoginName(user.loginName);
  assertWellFormedChange(user);
  if (user.provider !== 'password' && user.passwordHash !== null) {
    const whose = user.provider === 'ldap' ? 'a directory user' : 'a user of an identity provider';
    throw new AccountProblem(`${whose} has no password in this service`, 'provider');
  }
  if (user.legacyLogin === true && (user.provider !== 'password' || user.passwordHash !== null)) {
    throw new AccountProblem(
      'legacy_login is for a user with the provider password and without a password',
      'legacy_login',
    );
  }
  assertSignInPlace(user);
  assertOneRight(user);
}

function assertOneRight({ isAdmin, role }: Pick<NewUser, 'isAdmin' | 'role'>): void {
  if (!isAdmin || (role ?? null) === null) return;
  throw new AccountProblem('an administrator has no role: set is_admin to false, or role to null', 'role');
}

/** Whether the identity provider exists is for its owner. @throws AccountProblem */
export function assertSignInPlace({ provider, identityProviderId, externalId }: Partial<SignInPlace>): void {
  assertWellFormedChange({ externalId });
  if (provider === 'oidc' && (identityProviderId ?? null) === null) {
    throw new AccountProblem('identity_provider is required with the provider oidc', 'identity_provider');
  }
  if (provider !== 'oidc' && (identityProviderId ?? null) !== null) {
    throw new AccountProblem('identity_provider needs the provider oidc', 'identity_provider');
  }
}

function assertLoginName(name: string): void {
  if (isLoginName(name)) return;
  throw new AccountProblem(`the login name must have 1 to 255 characters and ${plainTextRule}`, 'login_name');
}

export function isLoginName(name: string): boolean {
  const key = identityKey(name);
  return key !== '' && key.length <= 255 && name.length <= 255 && isPlainText(name);
}

function assertWellFormedChange(change: UserChange): void {
  const { email, language, status } = change;
  if ((email ?? null) !== null && !isPlainAddress(email)) {
    throw new AccountProblem('the e-mail address is not valid', 'email');
  }
  for (const field of textFields) {
    const [text, name, limit] = [change[field] ?? '', wireNameOf(field), lengthOf(field)];
    if (text.length > limit) throw new AccountProblem(`the ${name} is longer than ${limit} characters`, name);
    if (!isPlainText(text)) throw new AccountProblem(`the ${name} must have ${plainTextRule}`, name);
  }
  if ((language ?? null) !== null && !languages.includes(language!)) {
    throw new AccountProblem(`the language must be one of ${languages.join(', ')}`, 'language');
  }
  if ((change.role ?? null) !== null && !roles.includes(change.role!)) {
    throw new AccountProblem(`the role must be one of ${roles.join(', ')}`, 'role');
  }
  if (status !== undefined && !statuses.includes(status)) {
    throw new AccountProblem('the status must be 1, 0, -1 or -2', 'status');
  }
}
