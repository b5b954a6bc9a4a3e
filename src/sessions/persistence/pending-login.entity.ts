import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MfaType } from '../../users/user.entity';

/**
 * A row of `pending_logins` (docs/spec/decisions.md#pending-login): one for each user who has still to submit a code.
 */
@Entity('pending_logins')
export class PendingLogin {
  @PrimaryColumn('varchar', { name: 'user_id', length: 36 })
  userId: string;

  /**
   * Identifies the login. A newer login replaces the row under another id, so that no code of the former one applies.
   */
  @Column('varchar', { length: 36 })
  id: string;

  /**
   * The session whose user confirms who they are (docs/spec/extensions.md#reauthenticate). Null for a login. A login of version
   * 1.0.0 leaves the value of before, so only `PendingLogins` reads it.
   */
  @Column('varchar', { length: 36, nullable: true })
  sid: string | null;

  /**
   * The id of the row and the thumbprint of the key that `/login` had a proof of. Null without one. Only `PendingLogins`
   * reads it.
   */
  @Column('varchar', { name: 'bound_to', length: 80, nullable: true })
  boundTo: string | null;

  @Column('varchar', { length: 16 })
  channel: MfaType;

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
