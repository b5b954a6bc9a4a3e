import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `passkeys`: a credential of an authenticator (docs/spec/extensions.md#b). It holds no secret. */
@Entity('passkeys')
export class Passkey {
  @PrimaryColumn('varchar', { length: 36 })
  id: string;

  @Column('varchar', { name: 'user_id', length: 36 })
  userId: string;

  /** SHA-256 of `credential_id`, which can be longer than the key of an index. */
  @Column('varchar', { name: 'credential_hash', length: 64 })
  credentialHash: string;

  /** Base64url. */
  @Column('text', { name: 'credential_id' })
  credentialId: string;

  /** The COSE key in base64url. */
  @Column('text', { name: 'public_key' })
  publicKey: string;

  /** The signature counter of the last use. 0 for an authenticator that does not count, as with synced passkeys. */
  @Column('bigint', { transformer: { from: Number, to: (value: number) => value } })
  counter: number;

  /** Separated by spaces. */
  @Column('varchar', { length: 255 })
  transports: string;

  /** Chosen by the owner. */
  @Column('varchar', { length: 64 })
  name: string;

  @Column('boolean', { name: 'backup_eligible' })
  backupEligible: boolean;

  @Column('boolean', { name: 'backed_up' })
  backedUp: boolean;

  @Column('datetime', { name: 'last_used_at', nullable: true })
  lastUsedAt: Date | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;
}
