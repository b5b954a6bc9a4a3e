import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, type Repository } from 'typeorm';
import { Clock } from '../../shared/clock';
import { isUuid } from '../../shared/uuid';
import { sha256Hex } from '../../platform/crypto/key-ring';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import { noteOwnFactors } from '../../users/own-factors';
import type { Assertion, NewCredential } from '../webauthn/webauthn';
import { Passkey } from './passkey.entity';

/** The table `passkeys` and its guarded writes. */
@Injectable()
export class PasskeyRows {
  private readonly rows: EntityRows<Passkey>;

  constructor(
    @InjectRepository(Passkey) rows: Repository<Passkey>,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** The passkeys of a user, the newest first. */
  list(userId: string): Promise<Passkey[]> {
    return this.rows.find({ userId }, { order: { createdAt: 'DESC', id: 'ASC' } });
  }

  find(userId: string, id: string): Promise<Passkey | null> {
    // MySQL ignores spaces at the end of a text that it compares, so only exact identifiers reach it.
    return isUuid(id) ? this.rows.findOne({ id, userId }) : Promise.resolve(null);
  }

  /** @param credentialId as a client sent it */
  findByCredential(credentialId: string): Promise<Passkey | null> {
    return this.rows.findOne({ credentialHash: sha256Hex(credentialId) });
  }

  /**
   * Race: two registrations of one credential, of the same user or of two, on any replica. The first INSERT takes the
   * unique key, and the other one gets false.
   */
  async insert(tx: Transaction, passkey: Passkey): Promise<boolean> {
    await noteOwnFactors(tx, passkey.userId);
    return this.rows.added(tx, passkey);
  }

  /**
   * Records a use whose signature is good.
   * Race: parallel uses of one passkey, on any replica, and its removal. The counter must grow, unless the authenticator
   * does not count. Of two uses with the same counter, the first UPDATE wins and the other one matches no row: one of
   * the two authenticators is a copy. A removal that commits first wins as well.
   */
  recordUse({ id, userId }: Passkey, { counter, backedUp }: Assertion): Promise<boolean> {
    const grows = counter === 0 ? 0 : LessThan(counter);
    const use = { counter, backedUp, lastUsedAt: this.clock.now() };
    return this.rows.won(this.database, { id, userId, counter: grows }, use);
  }

  /** A rename beside a removal: after the removal it matches no row. */
  rename(tx: Transaction, userId: string, id: string, name: string): Promise<boolean> {
    return isUuid(id) ? this.rows.won(tx, { id, userId }, { name }) : Promise.resolve(false);
  }

  /** Of parallel removals, one gets true. */
  async remove(tx: Transaction, userId: string, id: string): Promise<boolean> {
    return isUuid(id) && (await this.rows.remove(tx, { id, userId })) === 1;
  }

  count(tx: Transaction, userId: string): Promise<number> {
    return this.rows.count({ userId }, tx);
  }

  /** @returns how many there were */
  removeAll(tx: Transaction, userId: string): Promise<number> {
    return this.rows.remove(tx, { userId });
  }
}

/** A new row of the credential. */
export function newPasskey(
  credential: NewCredential,
  { id, userId, name, createdAt }: Pick<Passkey, 'id' | 'userId' | 'name' | 'createdAt'>,
): Passkey {
  return Object.assign(new Passkey(), {
    ...credential,
    credentialHash: sha256Hex(credential.credentialId),
    transports: credential.transports.join(' '),
    lastUsedAt: null,
    id,
    userId,
    name,
    createdAt,
  });
}
