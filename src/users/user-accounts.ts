import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { saltOf } from '../hashing/bcrypt-format';
import type { Transaction } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import { isDuplicate } from '../platform/database/store-failure';
import { Clock } from '../shared/clock';
import { identityKey } from '../shared/identity-key';
import { isPlainAddress } from '../shared/mail-address';
import { Random } from '../shared/random';
import { type MfaType, type Provider, User, userStatus } from './user.entity';

export interface NewUser {
  readonly loginName: string;
  readonly email: string | null;
  readonly nickname: string | null;
  /** A bcrypt hash. Null for a directory user, and for a user who will be invited. */
  readonly passwordHash: string | null;
  readonly temporary: boolean;
  readonly status: number;
  readonly mfaType: MfaType;
  readonly provider: Provider;
  /** The entry of a directory user. */
  readonly directoryId?: string | null;
  readonly isAdmin: boolean;
  readonly tenantId: string;
  readonly orgUnitId: string | null;
}

const statuses: readonly number[] = Object.values(userStatus);

/** An account cannot be created or changed as requested. The message tells the operator why. */
export class AccountProblem extends Error {
  override readonly name = 'AccountProblem';
}

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
  async create(tx: Transaction, user: NewUser): Promise<User> {
    assertWellFormed(user);
    await this.assertScope(tx, user);
    const row = this.rows.create({
      uid: this.random.uuid(),
      loginName: user.loginName.trim(),
      loginNameKey: identityKey(user.loginName),
      email: user.email,
      emailKey: user.email === null ? null : identityKey(user.email),
      nickname: user.nickname,
      password: user.passwordHash,
      salt: user.passwordHash === null ? null : saltOf(user.passwordHash),
      status: user.status,
      loginFailedCount: 0,
      lastLoginFailedTime: null,
      lastLoginSuccessTime: null,
      mfaType: user.mfaType,
      totpSecret: null,
      mfaFailedCount: 0,
      mfaBlockedUntil: null,
      provider: user.provider,
      isAdmin: user.isAdmin,
      mustChangePassword: user.temporary,
      credentialVersion: 0,
      tenantId: user.tenantId,
      orgUnitId: user.orgUnitId,
      directoryId: user.directoryId ?? null,
      directorySeenAt: null,
      directoryLookUntil: null,
      createdAt: this.clock.now(),
    });
    try {
      await tx.manager.insert(User, row);
    } catch (error) {
      if (isDuplicate(error)) throw new AccountProblem('the login name or the e-mail address is taken');
      throw error;
    }
    return row;
  }

  setStatus(sql: Sql, uid: string, status: number): Promise<boolean> {
    return sql.won('UPDATE users SET status = ? WHERE uid = ? AND status <> ?', [status, uid, status]);
  }

  setMfaType(sql: Sql, uid: string, mfaType: MfaType): Promise<boolean> {
    return sql.won('UPDATE users SET mfa_type = ? WHERE uid = ? AND mfa_type <> ?', [mfaType, uid, mfaType]);
  }

  /** Ends the lock after wrong passwords and the block after wrong codes. */
  unlock(sql: Sql, uid: string): Promise<boolean> {
    return sql.won(
      `UPDATE users SET login_failed_count = 0, last_login_failed_time = NULL, mfa_failed_count = 0, mfa_blocked_until = NULL
       WHERE uid = ?`,
      [uid],
    );
  }

  private async assertScope(tx: Transaction, { tenantId, orgUnitId }: NewUser): Promise<void> {
    await assertTenant(tx, tenantId);
    if (orgUnitId === null) return;
    const unit = await tx.row<{ id: string }>('SELECT id FROM org_units WHERE id = ? AND tenant_id = ?', [
      orgUnitId,
      tenantId,
    ]);
    if (unit?.id !== orgUnitId)
      throw new AccountProblem(`there is no organisation unit ${JSON.stringify(orgUnitId)} in the tenant`);
  }
}

/**
 * Compares the id again after the look-up: `utf8mb4_bin` ignores trailing spaces, so MariaDB also finds `root` for an
 * id with a space after it. Otherwise the padded id would be stored and would get into tokens.
 * @throws AccountProblem when there is no such tenant
 */
export async function assertTenant(sql: Sql, id: string): Promise<void> {
  const row = await sql.row<{ id: string }>('SELECT id FROM tenants WHERE id = ?', [id]);
  if (row?.id !== id) throw new AccountProblem(`there is no tenant ${JSON.stringify(id)}`);
}

function assertWellFormed(user: NewUser): void {
  const key = identityKey(user.loginName);
  if (key === '' || key.length > 255 || user.loginName.length > 255 || /\p{Cc}/u.test(user.loginName)) {
    throw new AccountProblem('the login name must have 1 to 255 characters and no control characters');
  }
  if (user.email !== null && !isPlainAddress(user.email)) throw new AccountProblem('the e-mail address is not valid');
  if ((user.nickname?.length ?? 0) > 255) throw new AccountProblem('the nickname is longer than 255 characters');
  if (!statuses.includes(user.status)) throw new AccountProblem('the status must be 1, 0, -1 or -2');
  if (user.provider === 'ldap' && user.passwordHash !== null) {
    throw new AccountProblem('a directory user has no password in this service');
  }
}
