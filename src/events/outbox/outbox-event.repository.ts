import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, MoreThanOrEqual, Not, Raw, type Repository } from 'typeorm';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import { type Sql, timeOf, timeOrNull } from '../../platform/database/sql';
import { filledUp } from '../../platform/database/statement-keys';
import { deleteBatch } from '../../platform/outbox/settled-rows';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { auditTypes } from '../event-types';
import type { ServiceEvent } from './event';
import {
  type EventStatus,
  eventStatus,
  type FinalEventStatus,
  fresh,
  type Fresh,
  OutboxEvent,
} from './outbox-event.entity';

/** The user whom an event is about, and the person who acted. A change of a setting has an actor and no user. */
export interface EventOwner {
  readonly userId: string | null;
  readonly actorId: string | null;
}

/** The event of a stream that is sent next. */
export type WaitingEvent = OutboxEvent & { readonly payload: string };

/** An event without its payload. */
export type ListedEvent = Omit<OutboxEvent, 'payload' | 'fresh' | 'erased'> & { readonly hasPayload: boolean };

/** Where a list goes on: the time in milliseconds and the number of its last event. */
export type EventPlace = readonly [createdAt: number, number: number];

const firstWaiting = 'SELECT MIN(id) FROM event_outbox WHERE stream = :stream AND status = :status';
const mostCounted = 100_000;
/** Rows of one UPDATE: some milliseconds. */
const forgottenRows = 1000;

/** The table `event_outbox`. The ids of one user's events are the order in which they are sent (ADR 0026). */
@Injectable()
export class EventRows {
  private readonly rows: EntityRows<OutboxEvent>;

  constructor(
    @InjectRepository(OutboxEvent) rows: Repository<OutboxEvent>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    this.rows = new EntityRows(rows, database);
  }

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

  async first(stream: string): Promise<WaitingEvent | undefined> {
    const values = { stream, status: eventStatus.waiting };
    // MIN finds the row by the index on stream, status and id. ORDER BY id LIMIT 1 could scan the primary key.
    const event = await this.rows.findOne({ id: Raw((id) => `${id} = (${firstWaiting})`, values) });
    // Only a settled event loses its payload.
    return (event as WaitingEvent | null) ?? undefined;
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
    const waits = { id, status: eventStatus.waiting, ...(isSent ? {} : { queuedAt: queuedAt ?? IsNull() }) };
    const sentAt = isSent ? this.clock.now() : null;
    const payload = () => 'CASE WHEN erased = 1 THEN NULL ELSE payload END';
    return this.rows.won(this.database, waits, { status, fresh: fresh.no, sentAt, payload });
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
    await this.rows.update(this.database, { id: In(filledUp(ids)), fresh: Not(fresh.no) }, { fresh: fresh.no });
  }

  /**
   * The first event of this type in a stream since a time, or what replays it. It reads the events of one user by the
   * index on the stream.
   */
  async firstSince(stream: string, type: string, since: Date): Promise<OutboxEvent | null> {
    const order = { order: { id: 'ASC' }, limit: 1 } as const;
    const [event] = await this.rows.find({ stream, type, createdAt: MoreThanOrEqual(since) }, order);
    if (event === undefined || event.status !== eventStatus.replayed) return event ?? null;
    const [replay] = await this.rows.find({ stream, replayOf: event.eventId }, { order: { id: 'DESC' }, limit: 1 });
    return replay ?? event;
  }

  find(eventId: string, sql?: Sql): Promise<OutboxEvent | null> {
    return this.rows.findOne({ eventId }, sql);
  }

  /** The newest events first; without a status, those that were queued last. */
  async newest(status: EventStatus | undefined, most: number, after: EventPlace | null = null): Promise<ListedEvent[]> {
    const [at, last] = [new Date(after?.[0] ?? 0), after?.[1] ?? Number.MAX_SAFE_INTEGER];
    const place = after === null ? '' : 'AND created_at <= ? AND (created_at < ? OR id < ?)';
    const rows = await this.database.rows<Record<keyof ListedEvent, unknown>>(
      `SELECT id, event_id AS eventId, type, stream, status, replay_of AS replayOf, created_at AS createdAt,
       queued_at AS queuedAt, sent_at AS sentAt, CASE WHEN payload IS NULL THEN 0 ELSE 1 END AS hasPayload
       FROM event_outbox
       WHERE ${status === undefined ? 'id < ? ORDER BY' : `status = ? ${place} ORDER BY created_at DESC,`} id DESC
       LIMIT ${Math.trunc(most)}`,
      status === undefined ? [last] : [status, ...(after === null ? [] : [at, at, last])],
    );
    return rows.map((row) => ({
      ...(row as ListedEvent),
      createdAt: timeOf(row.createdAt),
      queuedAt: timeOrNull(row.queuedAt),
      sentAt: timeOrNull(row.sentAt),
      hasPayload: Number(row.hasPayload) === 1,
    }));
  }

  /**
   * Queues an event that was given up once more, with its `webhook-id` and its place in the order of its user: before the
   * events of the user that wait. Its back-off starts anew.
   * Race: two retries, or a retry and a replay, on any replica. The first UPDATE wins; the other one finds no event that
   * was given up. A worker whose lease has ended cannot give the event up, because `queued_at` has changed.
   */
  requeue(tx: Transaction, eventId: string): Promise<boolean> {
    const retriable = { eventId, status: eventStatus.dead, payload: Not(IsNull()) };
    const isFresh = () => `CASE WHEN stream = event_id THEN ${fresh.anonymous} ELSE ${fresh.known} END`;
    return this.rows.won(tx, retriable, { status: eventStatus.waiting, queuedAt: this.clock.now(), fresh: isFresh });
  }

  /**
   * How many events have this status, at most 100,000, and the time of the oldest. An event that was queued once more is
   * as old as that. Reads the rows by the index on status and time.
   */
  async counted(status: EventStatus): Promise<{ count: number; oldest: Date | null }> {
    const row = await this.database.row<{ count: number; oldest: unknown }>(
      `SELECT COUNT(*) AS count, MIN(since) AS oldest FROM
       (SELECT COALESCE(queued_at, created_at) AS since FROM event_outbox
        WHERE status = ? ORDER BY created_at LIMIT ${mostCounted}) AS first`,
      [status],
    );
    return { count: Number(row?.count ?? 0), oldest: timeOrNull(row?.oldest) };
  }

  /** Deletes one batch of events that were queued before `before`. @returns fewer than `limit` when none are left */
  async purgeOld(before: Date, limit: number): Promise<number> {
    let removed = 0;
    for (const status of Object.values(eventStatus)) {
      const old = { where: 'status = ? AND created_at < ?', values: [status, before] };
      removed += await deleteBatch(this.database, 'event_outbox', old, limit - removed);
      if (removed === limit) break;
    }
    return removed;
  }

  /**
   * Deletes the payloads of the events of a deleted user, in batches that commit alone. An event that waits is still
   * sent, and its payload is deleted then. `user.deleted` itself names nobody, and can be sent once more.
   * Race: an event that is settled, retried or replayed at this moment. The UPDATE looks at the status that the row has
   * then. A row that is inserted meanwhile is missed, so `purge` calls this once more an hour later.
   */
  async forgetUser(userId: string): Promise<void> {
    for (const status of Object.values(eventStatus)) {
      for (let last: number | undefined = 0; last !== undefined;) last = await this.forgetSome(userId, status, last);
    }
  }

  /** @returns the id of the last event of the batch, or undefined after the last batch */
  private async forgetSome(userId: string, status: EventStatus, after: number): Promise<number | undefined> {
    const rows = await this.database.rows<{ id: number }>(
      `SELECT id FROM event_outbox WHERE stream = ? AND status = ? AND id > ? ORDER BY id LIMIT ${forgottenRows}`,
      [userId, status, after],
    );
    if (rows.length === 0) return undefined;
    await this.database.affected(
      `UPDATE event_outbox SET erased = 1, payload = CASE WHEN status = ? THEN payload ELSE NULL END
       WHERE id IN (${rows.map(() => '?').join(', ')}) AND type <> ? AND (erased = 0 OR payload IS NOT NULL)`,
      [eventStatus.waiting, ...rows.map(({ id }) => id), auditTypes.USER_DELETED],
    );
    return rows.length < forgottenRows ? undefined : rows.at(-1)?.id;
  }
}
