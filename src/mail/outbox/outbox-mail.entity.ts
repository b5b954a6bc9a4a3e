import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MailStatus } from '../mail-status';
import { type MailUrgency, mailUrgency } from './mail-urgency';

/** A row of `mail_outbox`: a mail that waits, or the trace of one that does not wait any more (ADR 0007). */
@Entity('mail_outbox')
export class OutboxMail {
  @PrimaryColumn('varchar', { length: 36 })
  id: string;

  @Column('varchar', { length: 32 })
  kind: string;

  /** The mail in its sealed form. Null when nobody can send it any more. */
  @Column('text', { nullable: true })
  payload: string | null;

  @Column('integer')
  status: MailStatus;

  /** See mailUrgency. 1.1.0 and older write 0. */
  @Column('integer', { default: mailUrgency.none })
  urgency: MailUrgency;

  /** Includes an attempt that is under way. */
  @Column('integer')
  attempts: number;

  @Column('datetime', { name: 'next_attempt_at' })
  nextAttemptAt: Date;

  @Column('varchar', { name: 'claimed_by', length: 36, nullable: true })
  claimedBy: string | null;

  @Column('datetime', { name: 'claimed_until', nullable: true })
  claimedUntil: Date | null;

  @Column('datetime')
  expires: Date;

  @Column('datetime', { name: 'sent_at', nullable: true })
  sentAt: Date | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  /** Whose mail it is. Null in a mail that an earlier version queued. */
  @Column('varchar', { name: 'user_id', length: 36, nullable: true })
  userId: string | null;
}
