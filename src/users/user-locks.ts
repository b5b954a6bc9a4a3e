import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { Database, type Transaction } from '../platform/database/database';
import { type Condition, EntityRows } from '../platform/database/entity-rows';
import type { WithinTenant } from './tenant.repository';
import { User, userStatus } from './user.entity';

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

  /** Like `holdUnchanged`, while the user is an administrator. */
  holdAdministrator(tx: Transaction, { uid, credentialVersion }: VersionedUser): Promise<boolean> {
    return this.hold(tx, { uid, status: userStatus.enabled, credentialVersion, isAdmin: true });
  }

  /** While the user is not deleted, and in reach. */
  holdWithin(tx: Transaction, within: WithinTenant, uid: string): Promise<boolean> {
    return this.hold(tx, { uid, deletedAt: IsNull(), ...within });
  }

  private hold(tx: Transaction, user: Condition<User>): Promise<boolean> {
    return this.rows.won(tx, user, this.rows.incremented('held'));
  }
}
