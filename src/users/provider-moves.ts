import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { User } from './user.entity';

/** Where a user signs in. */
export type SignInPlace = Pick<User, 'provider' | 'identityProviderId'> & {
  /** Undefined: the user keeps it. */
  readonly externalId?: string | null;
};

/** Moves an account between kinds of sign-in: password, directory, identity provider. */
@Injectable()
export class ProviderMoves {
  private readonly rows: EntityRows<User>;

  constructor(@InjectRepository(User) rows: Repository<User>, database: Database) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * Takes the password and the entry of the directory from the account. The transaction must also end all that was issued to
   * the account, which changes the credential version.
   * Races with every sign-in of the account, with a change of its password and with another move, on any replica. Each of them
   * names the credential version that it has read. If this transaction commits first, they match no row: the sign-in is refused,
   * and no password comes back. If it comes later, it ends the session that the sign-in has begun.
   * @param read the row as the transaction has read it, which holds it
   * @returns false when the account has changed since then
   */
  move(tx: Transaction, read: User, { provider, identityProviderId, externalId }: SignInPlace): Promise<boolean> {
    return this.rows.won(
      tx,
      { uid: read.uid, provider: read.provider, credentialVersion: read.credentialVersion, deletedAt: IsNull() },
      {
        ...{ provider, identityProviderId, ...(externalId === undefined ? {} : { externalId }) },
        ...{ password: null, salt: null, mustChangePassword: false, legacyLogin: false },
        ...{ loginFailedCount: 0, lastLoginFailedTime: null },
        ...{ directoryId: null, directorySeenAt: null, directoryLookUntil: null },
      },
    );
  }
}
