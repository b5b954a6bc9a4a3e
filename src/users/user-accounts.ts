import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
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
import { lengthOf, placesOf } from './user-columns';
import { textFields } from './user-fields';
import { changedValues, type NewUser, newRow, type UserChange } from './user-values';
import { wireNameOf } from './user-wire';
import { User, userStatus } from './user.entity';

export { AccountProblem } from './account-problem';
export type { NewUser, UserChange } from './user-values';

const statuses: readonly number[] = Object.values(userStatus);

/** Creates and changes accounts: for the command line, the import, and the first login of a directory user. */
@Injectable()
export class UserAccounts {
  constructor(
    @InjectRepository(User) private readonly rows: Repository<User>,
    private readonly clock: Clock,
    private readonly random: Random,
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
    return row;
  }

  /**
   * Changes the fields that are given. The transaction must hold the row of the user.
   * Races with any account that takes the address: the unique key decides, and the loser gets an AccountProblem.
   * @throws AccountProblem
   */
  async change(tx: Transaction, user: User, change: UserChange): Promise<void> {
    assertWellFormedChange(change);
    const { tenantId = user.tenantId } = change;
    // A unit belongs to one tenant.
    const orgUnitId = change.orgUnitId ?? (change.orgUnitId === null || tenantId !== user.tenantId ? null : undefined);
    await assertPlace(tx, { tenantId, orgUnitId: orgUnitId ?? null });
    const set = placesOf(changedValues({ ...change, orgUnitId }));
    if (set.length === 0) return;
    try {
      await tx.won(
        `UPDATE users SET ${set.map(({ column, place }) => `${column} = ${place}`).join(', ')} WHERE uid = ?`,
        [...set.map(({ value }) => value), user.uid],
      );
    } catch (error) {
      throw isDuplicate(error) ? identityIsTaken() : error;
    }
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
  if (!isLoginName(user.loginName)) {
    throw new AccountProblem(`the login name must have 1 to 255 characters and ${plainTextRule}`, 'login_name');
  }
  assertWellFormedChange(user);
  if (user.provider === 'ldap' && user.passwordHash !== null) {
    throw new AccountProblem('a directory user has no password in this service', 'provider');
  }
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
  if (status !== undefined && !statuses.includes(status)) {
    throw new AccountProblem('the status must be 1, 0, -1 or -2', 'status');
  }
}
