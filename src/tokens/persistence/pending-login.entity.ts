import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `pending_logins` (decisions.md 3): one for each user, whose password was right and whose code is due. */
@Entity('pending_logins')
export class PendingLogin {
  @PrimaryColumn('varchar', { name: 'user_id', length: 36 })
  userId: string;

  /** Which login it is: a newer one takes the row over under another id, and nothing of the former one applies to it. */
  @Column('varchar', { length: 36 })
  id: string;

  @Column('varchar', { length: 16 })
  channel: 'email' | 'totp';

  /** SHA-256 of the `mfa_token`. */
  @Column('varchar', { name: 'token_hash', length: 64 })
  tokenHash: string;

  @Column('varchar', { length: 45 })
  ip: string;

  @Column('varchar', { name: 'code_hash', length: 64, nullable: true })
  codeHash: string | null;

  @Column('datetime', { name: 'code_expires', nullable: true })
  codeExpires: Date | null;

  @Column('integer')
  attempts: number;

  @Column('boolean', { name: 'is_closed' })
  isClosed: boolean;

  @Column('integer', { name: 'credential_version' })
  credentialVersion: number;

  @Column('datetime')
  expires: Date;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;
}
