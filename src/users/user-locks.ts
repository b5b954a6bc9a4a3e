import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, type Repository } from 'typeorm';
import { Database, type Transaction } from '../platform/database/database';
import { type Condition, EntityRows } from '../platform/database/entity-rows';
import type { SignInPlace } from './provider-moves';
import type { WithinTenant } from './tenant.repository';
import { type Role, User, userStatus } from './user.entity';

/** A user, and the credential version that was read. */
export type VersionedUser = Pick<User, 'uid' | 'credentialVersion'>;

/**
 * Locks the row of one user until the transaction ends (ADR 0029).
 * Races with changes of this user, on any replica. If one of them commits first and changes a compared column, the UPDATE
 * matches no row and the caller gets false. If it comes later, it waits for the transaction.
 */
@Injectable()
export class UserLocks {
  private readonly rows: EntityRows<User>;

  constructor(@InjectRepository(User) rows: Repository<User>, database: Database) {
    this.rows = new EntityRows(rows, database);
  }

  /** While the user is enabled, and under this credential version. */
  holdUnchanged(tx: Transaction, { uid, credentialVersion }: VersionedUser): Promise<boolean> {
    return this.hold(tx, { uid, status: userStatus.enabled, credentialVersion });
  }

  /** Like `holdUnchanged`, while the user is an administrator, or else has this role. */
  holdAdministrator(tx: Transaction, { uid, credentialVersion }: VersionedUser, role?: Role): Promise<boolean> {
    const right = role === undefined ? { isAdmin: true } : { isAdmin: false, role };
    return this.hold(tx, { uid, status: userStatus.enabled, credentialVersion, ...right });
  }

  /** While the user is not deleted, and in reach. */
  holdWithin(tx: Transaction, within: WithinTenant, uid: string): Promise<boolean> {
    return this.hold(tx, { uid, deletedAt: IsNull(), ...within });
  }

  /**
   * Like `holdWithin`, for users who become members of groups of their tenant.
   * @param uids at most a few hundred
   * @param place where they sign in, if it matters
   * @returns those who are users of the tenant, and are not deleted
   */
  async holdMembers(
    tx: Transaction,
    tenantId: string,
    uids: readonly string[],
    { provider, identityProviderId }: Partial<SignInPlace> = {},
  ): Promise<string[]> {
    const place = provider === undefined ? {} : { provider, identityProviderId: identityProviderId ?? IsNull() };
    const members = { uid: In([...uids]), tenantId, deletedAt: IsNull(), ...place };
    await this.rows.update(tx, members, { ...this.rows.incremented('held'), inGroups: true });
    return (await this.rows.find(members, { order: { uid: 'ASC' } }, tx)).map(({ uid }) => uid);
  }

  private hold(tx: Transaction, user: Condition<User>): Promise<boolean> {
    return this.rows.won(tx, user, this.rows.incremented('held'));
  }
}
