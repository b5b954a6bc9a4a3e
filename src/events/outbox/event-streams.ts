import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database';
import { isDuplicate } from '../../platform/database/store-failure';
import { type Lease, LeasedRows } from '../../platform/outbox/leased-rows';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { EventLimits } from '../event-limits';
import { EventRows, fresh, type Fresh } from './event-rows';

/**
 * Values of `event_streams.status`: whether a known person caused the events, and whether the last attempt of the first
 * one failed. Strangers cause anonymous events, mostly failed logins with unknown names, as many as they like. So these
 * have senders of their own.
 */
export const streamStatus = { ready: 0, failing: 1, anonymous: 2, anonymousFailing: 3 } as const;
export type StreamStatus = (typeof streamStatus)[keyof typeof streamStatus];

const isAnonymous = (status: StreamStatus): boolean => status >= streamStatus.anonymous;

interface Row {
  readonly stream: string;
  readonly status: StreamStatus;
  readonly attempts: number;
  /** Grows with each admission, so that the owner does not delete a stream for which an event has arrived. */
  readonly admissions: number;
}

export type ClaimedStream = Row & Lease;

const table = {
  name: 'event_streams',
  key: 'stream',
  columns: ['stream', 'status', 'attempts', 'admissions'],
} as const;

const batchRows = 128;
const batches = 8;

/**
 * The table `event_streams`: one row for each user with waiting events, and for each waiting event without a user. The
 * owner of the row sends the first event of the user, so one user's events have one sender at a time, over all replicas
 * (ADR 0026).
 */
@Injectable()
export class EventStreams {
  private readonly rows: LeasedRows<Row>;

  constructor(
    private readonly events: EventRows,
    private readonly database: Database,
    private readonly clock: Clock,
    random: Random,
    limits: EventLimits,
  ) {
    this.rows = new LeasedRows(table, limits.leaseMs, { database, clock, random });
  }

  claim(status: StreamStatus, wanted: number): Promise<ClaimedStream[]> {
    return this.rows.claim(status, wanted);
  }

  /**
   * Makes sure that each new event has a row of its stream. The request that caused the event does not write this row:
   * it would wait for other requests of the same user. A process may die between the two steps: they are repeated.
   */
  async admit(kind: Fresh): Promise<void> {
    const status = kind === fresh.anonymous ? streamStatus.anonymous : streamStatus.ready;
    for (let batch = 0; batch < batches; batch++) {
      const events = await this.events.fresh(kind, batchRows);
      if (events.length === 0) return;
      for (const stream of new Set(events.map((event) => event.stream))) await this.open(stream, status);
      await this.events.admitted(events.map(({ id }) => id));
      if (events.length < batchRows) return;
    }
  }

  /** Races with other replicas that open the stream, and with its owner, who may delete it between the two statements. */
  private async open(stream: string, status: StreamStatus): Promise<void> {
    for (;;) {
      try {
        await this.database.affected(
          'INSERT INTO event_streams (stream, status, attempts, admissions, next_attempt_at) VALUES (?, ?, 0, 0, ?)',
          [stream, status, this.clock.now()],
        );
        return;
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
      const known = 'UPDATE event_streams SET admissions = admissions + 1 WHERE stream = ?';
      if (await this.database.won(known, [stream])) return;
    }
  }

  /**
   * Ends the lease after an event was settled. Without a waiting event, the row is deleted. Race: an event that is
   * admitted between the look and the DELETE. It has changed `admissions`, so the row stays.
   */
  async release(stream: ClaimedStream): Promise<boolean> {
    if (!(await this.events.anyWaits(stream.stream))) {
      const deleted = await this.database.won(
        'DELETE FROM event_streams WHERE stream = ? AND claimed_by = ? AND admissions = ?',
        [stream.stream, stream.claim, stream.admissions],
      );
      if (deleted) return true;
    }
    const status = isAnonymous(stream.status) ? streamStatus.anonymous : streamStatus.ready;
    return this.rows.end(stream, stream.status, { status, attempts: 0, next_attempt_at: this.clock.now() });
  }

  /** Ends the lease after a failed attempt. The stream waits until `at`; other streams do not. */
  postpone(stream: ClaimedStream, at: Date): Promise<boolean> {
    const status = isAnonymous(stream.status) ? streamStatus.anonymousFailing : streamStatus.failing;
    return this.rows.end(stream, stream.status, { status, next_attempt_at: at });
  }
}
