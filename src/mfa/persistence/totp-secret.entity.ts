import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A row of `totp_secrets` (§2.3): the enrolment that is open or was confirmed last, and the last step of the secret in force. */
@Entity('totp_secrets')
export class TotpSecret {
  @PrimaryColumn('varchar', { name: 'user_id', length: 36 })
  userId: string;

  /** Sealed with a nonce of its own, so it also tells one enrolment from the next. */
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

  /** How often the QR code was shown. */
  @Column('integer')
  fetched: number;

  /** Codes tried against the open enrolment. */
  @Column('integer')
  attempts: number;

  @Column('datetime', { nullable: true })
  expires: Date | null;

  /** Of the secret in force, `users.topt_secret`; it outlives any number of enrolments that were begun and left. */
  @Column('bigint', { name: 'last_used_step', transformer: { from: Number, to: Number } })
  lastUsedStep: number;
}
