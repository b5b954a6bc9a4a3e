import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/**
 * Values of `event_outbox.status`. A row that was sent or given up (`dead`) keeps its payload until `purge`, so that it
 * can be sent once more. `replayed`: another row sends it, and has its payload.
 */
export const eventStatus = { waiting: 0, sent: 1, dead: 2, replayed: 3 } as const;
export type EventStatusName = keyof typeof eventStatus;
export type EventStatus = (typeof eventStatus)[EventStatusName];
export type FinalEventStatus = typeof eventStatus.sent | typeof eventStatus.dead;

/**
 * Values of `event_outbox.fresh`: whether the row of the event's stream may be missing. Strangers cause events without
 * a user and without an actor, mostly failed logins with unknown names, as many as they like. So these are admitted apart.
 */
export const fresh = { no: 0, known: 1, anonymous: 2 } as const;
export type Fresh = typeof fresh.known | typeof fresh.anonymous;

/** A row of `event_outbox`. The ids of one user's events are the order in which they are sent (ADR 0026). */
@Entity('event_outbox')
export class OutboxEvent {
  @PrimaryGeneratedColumn()
  id: number;

  /** The `webhook-id`: the same at each attempt, so that a receiver recognises a repetition. */
  @Column('varchar', { name: 'event_id', length: 36 })
  eventId: string;

  @Column('varchar', { length: 64 })
  type: string;

  /** The user of the event, or its `event_id` when it has no user. */
  @Column('varchar', { length: 36 })
  stream: string;

  /** Null when it was deleted with the user, or has moved to the event that replays this one. */
  @Column('text', { nullable: true })
  payload: string | null;

  @Column('integer')
  status: EventStatus;

  @Column('integer')
  fresh: (typeof fresh)[keyof typeof fresh];

  @Column('datetime', { name: 'sent_at', nullable: true })
  sentAt: Date | null;

  @Column('datetime', { name: 'created_at' })
  createdAt: Date;

  /** The `webhook-id` of the first sending, for an event that is replayed. */
  @Column('varchar', { name: 'replay_of', length: 36, nullable: true })
  replayOf: string | null;

  /** When somebody asked for another sending. The back-off and the limit count from here. */
  @Column('datetime', { name: 'queued_at', nullable: true })
  queuedAt: Date | null;

  /** The user was deleted: the payload is deleted as soon as the event is settled. */
  @Column('boolean')
  erased: boolean;
}
