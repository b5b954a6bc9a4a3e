import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How an event is written: as for `WEBHOOK_URL`, as CloudEvents 1.0, or as a Security Event Token (RFC 8417). */
export const receiverFormats = ['native', 'cloudevents', 'set'] as const;
export type ReceiverFormat = (typeof receiverFormats)[number];

export const receiverStatus = { on: 0, paused: 1 } as const;

/** A list of texts as JSON. */
const list = {
  to: (values: readonly string[]): string => JSON.stringify(values),
  from: (json: string): string[] => JSON.parse(json) as string[],
};
/** MySQL gives a big integer as a text. */
const place = { to: (value: number) => value, from: Number };

/** A row of `event_receivers`: another system that gets events, and how far it has got (ADR 0047). */
@Entity('event_receivers')
export class EventReceiver {
  /** Chosen by the administrator. It names the receiver in metrics and in the log. */
  @PrimaryColumn('varchar', { length: 40 })
  id: string;

  @Column('varchar', { length: 2048 })
  url: string;

  @Column('varchar', { length: 16 })
  format: ReceiverFormat;

  /** Types, or a prefix and a star such as `user.*`. Empty: all. */
  @Column('text', { transformer: list })
  types: string[];

  /** Only events about users of these tenants. Empty: all events, also those about nobody. */
  @Column('text', { transformer: list })
  tenants: string[];

  /** The `aud` of a Security Event Token. Null: the URL. */
  @Column('varchar', { length: 255, nullable: true })
  audience: string | null;

  /** Sealed, see ReceiverSecrets. */
  @Column('text')
  secret: string;

  @Column('text', { name: 'old_secret', nullable: true })
  oldSecret: string | null;

  /** Until then each request has a second signature, by the former secret. */
  @Column('datetime', { name: 'old_secret_expires', nullable: true })
  oldSecretExpires: Date | null;

  @Column('integer')
  status: (typeof receiverStatus)[keyof typeof receiverStatus];

  /** Grows with each change by an administrator, so that a sender that has read the row before stops. */
  @Column('integer')
  version: number;

  /** The place in `receiver_events` up to which everything was sent, or did not concern this receiver. */
  @Column('bigint', { transformer: place })
  position: number;

  /** Events up to this place are sent once more: with ids of their own, which `replays` changes. */
  @Column('bigint', { name: 'replay_until', transformer: place })
  replayUntil: number;

  @Column('integer')
  replays: number;

  @Column('integer')
  attempts: number;

  @Column('datetime', { name: 'next_attempt_at' })
  nextAttemptAt: Date;

  @Column('varchar', { name: 'claimed_by', length: 36, nullable: true })
  claimedBy: string | null;

  @Column('datetime', { name: 'claimed_until', nullable: true })
  claimedUntil: Date | null;

  @Column('datetime', { name: 'last_success_at', nullable: true })
  lastSuccessAt: Date | null;

  @Column('varchar', { name: 'last_error', length: 64, nullable: true })
  lastError: string | null;

  @Column('datetime', { name: 'last_error_at', nullable: true })
  lastErrorAt: Date | null;

  /** Since the first failed attempt after the last success. Null: the last attempt succeeded. */
  @Column('datetime', { name: 'failing_since', nullable: true })
  failingSince: Date | null;

  /** Events that the receiver has refused for so long that the next ones were sent. */
  @Column('integer', { name: 'set_aside' })
  setAside: number;

  @Column('varchar', { name: 'last_set_aside', length: 36, nullable: true })
  lastSetAside: string | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  @Column('datetime', { name: 'changed_at' })
  changedAt: Date;
}
