import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import { isDuplicate } from '../../platform/database/store-failure';
import { type Lease, LeasedRows } from '../../platform/outbox/leased-rows';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { EventLimits } from '../event-limits';
import { EventStream, type StreamStatus, streamStatus } from './event-stream.entity';
import { fresh, type Fresh } from './outbox-event.entity';
import { EventRows } from './outbox-event.repository';

const isAnonymous = (status: StreamStatus): boolean => status >= streamStatus.anonymous;

const table = {
  name: 'event_streams',
  key: 'stream',
  columns: ['stream', 'status', 'attempts', 'admissions'],
} as const;

type Leasable = Pick<EventStream, (typeof table.columns)[number]>;
export type ClaimedStream = Leasable & Lease;

const batchRows = 128;
const batches = 8;

/**
 * The table `event_streams`: one row for each user with waiting events, and for each waiting event without a user. The
 * owner of the row sends the first event of the user, so one user's events have one sender at a time, over all replicas
 * (ADR 0026).
 */
@Injectable()
export class EventStreams {
  private readonly rows: EntityRows<EventStream>;
  private readonly leased: LeasedRows<Leasable>;

  constructor(
    @InjectRepository(EventStream) rows: Repository<EventStream>,
    private readonly events: EventRows,
    private readonly database: Database,
    private readonly clock: Clock,
    random: Random,
    limits: EventLimits,
  ) {
    this.rows = new EntityRows(rows, database);
    this.leased = new LeasedRows(table, limits.leaseMs, { database, clock, random });
  }

  claim(status: StreamStatus, wanted: number): Promise<ClaimedStream[]> {
    return this.leased.claim(status, wanted);
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
    const due = { status, attempts: 0, admissions: 0, nextAttemptAt: this.clock.now() };
    for (;;) {
      try {
        await this.rows.insert(this.database, { stream, ...due });
        return;
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
      if (await this.rows.won(this.database, { stream }, { admissions: () => 'admissions + 1' })) return;
    }
  }

  /**
   * Ends the lease after an event was settled. Without a waiting event, the row is deleted. Race: an event that is
   * admitted between the look and the DELETE. It has changed `admissions`, so the row stays.
   */
  async release(stream: ClaimedStream): Promise<boolean> {
    if (!(await this.events.anyWaits(stream.stream))) {
      const { claim, admissions } = stream;
      const owned = { stream: stream.stream, claimedBy: claim, admissions };
      if ((await this.rows.remove(this.database, owned)) === 1) return true;
    }
    const status = isAnonymous(stream.status) ? streamStatus.anonymous : streamStatus.ready;
    const ready = { status, attempts: 0, next_attempt_at: this.clock.now(), answer: null };
    return this.leased.end(stream, stream.status, ready);
  }

  /** Ends the lease after a failed attempt. The stream waits until `at`; other streams do not. */
  postpone(stream: ClaimedStream, at: Date, failure = ''): Promise<boolean> {
    const status = isAnonymous(stream.status) ? streamStatus.anonymousFailing : streamStatus.failing;
    return this.leased.end(stream, stream.status, { status, next_attempt_at: at, answer: failure.slice(0, 64) });
  }

  find(stream: string): Promise<EventStream | null> {
    return this.rows.findOne({ stream });
  }

  /** Makes a stream due that waits for its next attempt. The sender that has the lease sets this time anew. */
  async hasten(tx: Transaction, stream: string): Promise<void> {
    const now = this.clock.now();
    await this.rows.update(tx, { stream, nextAttemptAt: MoreThan(now) }, { nextAttemptAt: now });
  }
}
