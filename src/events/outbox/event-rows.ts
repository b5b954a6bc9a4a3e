import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database';
import { type Sql, timeOf, timeOrNull } from '../../platform/database/sql';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import type { ServiceEvent } from './event';

/**
 * Values of `event_outbox.fresh`: whether the row of the event's stream may be missing. Strangers cause events without
 * a user and without an actor, mostly failed logins with unknown names, as many as they like. So these are admitted apart.
 */
export const fresh = { no: 0, known: 1, anonymous: 2 } as const;
export type Fresh = typeof fresh.known | typeof fresh.anonymous;

/** The user whom an event is about, and the person who acted. A change of a setting has an actor and no user. */
export interface EventOwner {
  readonly userId: string | null;
  readonly actorId: string | null;
}

/**
 * Values of `event_outbox.status`. A row that was sent or given up (`dead`) keeps its payload until `purge`, so that it
 * can be sent once more. `replayed`: another row sends it, and has its payload.
 */
export const eventStatus = { waiting: 0, sent: 1, dead: 2, replayed: 3 } as const;
export type FinalEventStatus = 1 | 2;

export interface WaitingEvent {
  readonly id: number;
  /** The `webhook-id`: the same at each attempt, so that a receiver recognises a repetition. */
  readonly eventId: string;
  readonly type: string;
  readonly payload: string;
  /** The `webhook-id` of the first sending, for an event that is replayed. */
  readonly replayOf: string | null;
  readonly createdAt: Date;
  /** When an administrator asked for another sending. The back-off and the limit count from here. */
  readonly queuedAt: Date | null;
}

interface Row extends Omit<WaitingEvent, 'createdAt' | 'queuedAt'> {
  readonly createdAt: unknown;
  readonly queuedAt: unknown;
}

/** The table `event_outbox`. The ids of one user's events are the order in which they are sent (ADR 0026). */
@Injectable()
export class EventRows {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /**
   * Inserts the event in the transaction of its log row. An event without a user has no order, so it is a stream of its
   * own. The request sends one statement, whoever the owner is, so its time does not tell whether an account exists.
   */
  async insert(sql: Sql, event: ServiceEvent, { userId, actorId }: EventOwner): Promise<void> {
    const eventId = this.random.uuid();
    const isAnonymous = userId === null && actorId === null;
    await sql.affected(
      `INSERT INTO event_outbox (event_id, type, stream, payload, status, fresh, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      [
        ...[eventId, event.type, userId ?? eventId, JSON.stringify(event)],
        ...[eventStatus.waiting, isAnonymous ? fresh.anonymous : fresh.known, this.clock.now()],
      ],
    );
  }

  /** The event of the stream that is sent next. */
  async first(stream: string): Promise<WaitingEvent | undefined> {
    // MIN finds the row by the index on stream, status and id. ORDER BY id LIMIT 1 could scan the primary key.
    const row = await this.database.row<Row>(
      `SELECT id, event_id AS eventId, type, payload, replay_of AS replayOf, created_at AS createdAt,
       queued_at AS queuedAt FROM event_outbox
       WHERE id = (SELECT MIN(id) FROM event_outbox WHERE stream = ? AND status = ?)`,
      [stream, eventStatus.waiting],
    );
    if (row === undefined) return undefined;
    return { ...row, createdAt: timeOf(row.createdAt), queuedAt: timeOrNull(row.queuedAt) };
  }

  async anyWaits(stream: string): Promise<boolean> {
    const row = await this.database.row<{ id: number | null }>(
      'SELECT MIN(id) AS id FROM event_outbox WHERE stream = ? AND status = ?',
      [stream, eventStatus.waiting],
    );
    return row?.id !== null && row?.id !== undefined;
  }

  /**
   * Sets the final status. Race: a process whose lease has ended, and the owner of the new lease. The first one wins. The
   * other one changes nothing, because the event is settled. A retry by an administrator may have come between: an event
   * that waits again is not given up by an attempt of before, whose `queued_at` differs.
   */
  settle({ id, queuedAt }: Pick<WaitingEvent, 'id' | 'queuedAt'>, status: FinalEventStatus): Promise<boolean> {
    const isSent = status === eventStatus.sent;
    const sameWait = queuedAt === null ? 'AND queued_at IS NULL' : 'AND queued_at = ?';
    return this.database.won(
      `UPDATE event_outbox SET status = ?, fresh = 0, sent_at = ?,
       payload = CASE WHEN erased = 1 THEN NULL ELSE payload END
       WHERE id = ? AND status = ? ${isSent ? '' : sameWait}`,
      [
        ...[status, isSent ? this.clock.now() : null, id, eventStatus.waiting],
        ...(isSent || queuedAt === null ? [] : [queuedAt]),
      ],
    );
  }

  /** Events whose stream may have no row in `event_streams` yet. */
  async fresh(kind: Fresh, limit: number): Promise<{ readonly id: number; readonly stream: string }[]> {
    return this.database.rows(
      `SELECT id, stream FROM event_outbox WHERE fresh = ? ORDER BY created_at LIMIT ${Math.trunc(limit)}`,
      [kind],
    );
  }

  /** @param ids not empty. Filled up to a power of two, so that few prepared statements serve all lengths. */
  async admitted(ids: readonly number[]): Promise<void> {
    const filled = [...ids];
    while (!Number.isInteger(Math.log2(filled.length))) filled.push(ids[0]!);
    const marks = filled.map(() => '?').join(', ');
    await this.database.affected(`UPDATE event_outbox SET fresh = 0 WHERE id IN (${marks}) AND fresh <> 0`, filled);
  }
}
