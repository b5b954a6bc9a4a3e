import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Values of `event_streams.status`: whether a known person caused the events, and whether the last attempt of the first
 * one failed. Strangers cause anonymous events, mostly failed logins with unknown names, as many as they like. So these
 * have senders of their own.
 */
export const streamStatus = { ready: 0, failing: 1, anonymous: 2, anonymousFailing: 3 } as const;
export type StreamStatus = (typeof streamStatus)[keyof typeof streamStatus];

/** A row of `event_streams`: a user with waiting events, or a waiting event without a user (ADR 0026). */
@Entity('event_streams')
export class EventStream {
  /** The user, or the `event_id` of an event without one. */
  @PrimaryColumn('varchar', { length: 36 })
  stream: string;

  @Column('integer')
  status: StreamStatus;

  @Column('integer')
  attempts: number;

  /** Grows with each admission, so that the owner does not delete a stream for which an event has arrived. */
  @Column('integer')
  admissions: number;

  @Column('datetime', { name: 'next_attempt_at' })
  nextAttemptAt: Date;

  @Column('varchar', { name: 'claimed_by', length: 36, nullable: true })
  claimedBy: string | null;

  @Column('datetime', { name: 'claimed_until', nullable: true })
  claimedUntil: Date | null;

  /** Why the last attempt of the first event failed. */
  @Column('varchar', { length: 64, nullable: true })
  answer: string | null;
}
