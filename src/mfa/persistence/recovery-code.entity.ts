import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `recovery_codes`: one code of a user. Spent codes stay until the user makes new ones. */
@Entity('recovery_codes')
export class RecoveryCode {
  @PrimaryColumn('varchar', { length: 36 })
  id: string;

  @Column('varchar', { name: 'user_id', length: 36 })
  userId: string;

  /** An HMAC over the user and the code. */
  @Column('varchar', { name: 'code_hash', length: 64 })
  codeHash: string;

  /** The id of the key of the HMAC. */
  @Column('varchar', { name: 'key_id', length: 16 })
  keyId: string;

  @Column('datetime', { name: 'used_at', nullable: true })
  usedAt: Date | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;
}
