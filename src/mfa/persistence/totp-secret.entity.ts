import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `totp_secrets`: the open or last confirmed enrolment, and the last used step of the active secret. */
@Entity('totp_secrets')
export class TotpSecret {
  @PrimaryColumn('varchar', { name: 'user_id', length: 36 })
  userId: string;

  /** Encrypted with a random nonce, so the stored value also identifies the enrolment. */
  @Column('text')
  secret: string;

  @Column('text')
  uri: string;

  /** Null while the enrolment is open. */
  @Column('datetime', { name: 'confirmed_at', nullable: true })
  confirmedAt: Date | null;

  @Column('varchar', { length: 36, nullable: true })
  sid: string | null;

  @Column('varchar', { length: 45, nullable: true })
  ip: string | null;

  /** How often the QR code was fetched. */
  @Column('integer')
  fetched: number;

  /** Codes tried against the open enrolment. */
  @Column('integer')
  attempts: number;

  @Column('datetime', { nullable: true })
  expires: Date | null;

  /** The last used step of the active secret, `users.topt_secret`. Opening an enrolment does not change it. */
  @Column('bigint', { name: 'last_used_step', transformer: { from: Number, to: Number } })
  lastUsedStep: number;
}
