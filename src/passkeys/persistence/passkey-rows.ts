import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../../shared/clock';
import { isUuid } from '../../shared/uuid';
import { sha256Hex } from '../../platform/crypto/key-ring';
import { Database, type Transaction } from '../../platform/database/database';
import { isDuplicate } from '../../platform/database/store-failure';
import { noteOwnFactors } from '../../users/own-factors';
import type { Assertion, NewCredential } from '../webauthn/webauthn';
import { Passkey } from './passkey.entity';

/** The table `passkeys` and its guarded writes. */
@Injectable()
export class PasskeyRows {
  constructor(
    @InjectRepository(Passkey) private readonly rows: Repository<Passkey>,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** The passkeys of a user, the newest first. */
  list(userId: string): Promise<Passkey[]> {
    return this.rows.find({ where: { userId }, order: { createdAt: 'DESC', id: 'ASC' } });
  }

  find(userId: string, id: string): Promise<Passkey | null> {
    return isUuid(id) ? this.rows.findOneBy({ id, userId }) : Promise.resolve(null);
  }

  /** @param credentialId as a client sent it */
  findByCredential(credentialId: string): Promise<Passkey | null> {
    return this.rows.findOneBy({ credentialHash: sha256Hex(credentialId) });
  }

  /**
   * Race: two registrations of one credential, of the same user or of two, on any replica. The first INSERT takes the
   * unique key, and the other one gets false.
   */
  async insert(tx: Transaction, passkey: Passkey): Promise<boolean> {
    await noteOwnFactors(tx, passkey.userId);
    try {
      return await tx.won(
        `INSERT INTO passkeys (id, user_id, credential_hash, credential_id, public_key, counter, transports, name,
         backup_eligible, backed_up, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          ...[passkey.id, passkey.userId, passkey.credentialHash, passkey.credentialId, passkey.publicKey],
          ...[passkey.counter, passkey.transports, passkey.name, passkey.backupEligible, passkey.backedUp],
          passkey.createdAt,
        ],
      );
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /**
   * Records a use whose signature is good.
   * Race: parallel uses of one passkey, on any replica, and its removal. The counter must grow, unless the authenticator
   * does not count. Of two uses with the same counter, the first UPDATE wins and the other one matches no row: one of
   * the two authenticators is a copy. A removal that commits first wins as well.
   */
  recordUse({ id, userId }: Passkey, { counter, backedUp }: Assertion): Promise<boolean> {
    return this.database.won(
      `UPDATE passkeys SET counter = ?, backed_up = ?, last_used_at = ?
       WHERE id = ? AND user_id = ? AND (counter < ? OR (counter = 0 AND ? = 0))`,
      [counter, backedUp, this.clock.now(), id, userId, counter, counter],
    );
  }

  /** A rename beside a removal: after the removal it matches no row. */
  rename(tx: Transaction, userId: string, id: string, name: string): Promise<boolean> {
    // MySQL ignores spaces at the end of a text that it compares, so only exact identifiers reach it.
    if (!isUuid(id)) return Promise.resolve(false);
    return tx.won('UPDATE passkeys SET name = ? WHERE id = ? AND user_id = ?', [name, id, userId]);
  }

  /** Of parallel removals, one gets true. */
  remove(tx: Transaction, userId: string, id: string): Promise<boolean> {
    if (!isUuid(id)) return Promise.resolve(false);
    return tx.won('DELETE FROM passkeys WHERE id = ? AND user_id = ?', [id, userId]);
  }

  removeAll(tx: Transaction, userId: string): Promise<number> {
    return tx.affected('DELETE FROM passkeys WHERE user_id = ?', [userId]);
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
