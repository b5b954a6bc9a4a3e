import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { timeOrNull } from '../platform/database/sql';
import { UserTraces } from '../platform/database/user-traces';
import { deleteBatch } from '../platform/outbox/settled-rows';
import { Clock } from '../shared/clock';
import { auditTypes } from './event-types';
import { eventStatus } from './outbox/event-rows';
import { EventWorker } from './outbox/event-worker';
import { AuditLines } from './stream/audit-lines';
import { Webhook } from './webhook/webhook';

export interface EventFigures {
  /** At most 100,000, like `dead`: a greater number tells an operator no more, and to count it would take seconds. */
  readonly waiting: number;
  /** 0 when nothing waits. */
  readonly oldestWaitingSeconds: number;
  /** Events that were given up and are not purged yet. */
  readonly dead: number;
}

const mostCounted = 100_000;
/** Rows of one UPDATE: some milliseconds. */
const forgottenRows = 1000;

/** The events as the operator sees them: start of the server, metrics, `doctor`, `purge`. */
@Injectable()
export class EventOutbox {
  constructor(
    private readonly database: Database,
    private readonly worker: EventWorker,
    private readonly webhook: Webhook,
    private readonly lines: AuditLines,
    private readonly clock: Clock,
    traces: UserTraces,
  ) {
    traces.register({ tables: ['event_outbox'], settle: (uid) => this.forgetUser(uid) });
  }

  /** Starts the lines and the sending, including the events that other processes queued. Only the server calls it. */
  start(): void {
    this.lines.start();
    if (this.webhook.isOn) this.worker.startPolling();
  }

  /** Sends all due events now instead of at the next poll. */
  sendDue(): Promise<void> {
    return this.worker.sendDue();
  }

  /** Undefined without webhooks. The numbers cover all replicas. */
  async figures(): Promise<EventFigures | undefined> {
    if (!this.webhook.isOn) return undefined;
    const [waiting, dead] = [await this.counted(eventStatus.waiting), await this.counted(eventStatus.dead)];
    const age = waiting.oldest === null ? 0 : (this.clock.now().getTime() - waiting.oldest.getTime()) / 1000;
    return { waiting: waiting.count, oldestWaitingSeconds: Math.max(0, age), dead: dead.count };
  }

  /** Audit lines that this process has dropped since its start. Undefined without `AUDIT_STREAM`. */
  get droppedLines(): number | undefined {
    return this.lines.wanted ? this.lines.dropped : undefined;
  }

  /**
   * Deletes one batch of events that were queued before `before`, whatever their status is: an event still waits after
   * so long only when no process sends events any more.
   * @returns the number of deleted events; fewer than `limit` when none are left
   */
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
  private async forgetSome(userId: string, status: number, after: number): Promise<number | undefined> {
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

  /** Reads at most `mostCounted` rows by the index on status and time. An event that was queued once more is as old as that. */
  private async counted(status: number): Promise<{ count: number; oldest: Date | null }> {
    const row = await this.database.row<{ count: number; oldest: unknown }>(
      `SELECT COUNT(*) AS count, MIN(since) AS oldest FROM
       (SELECT COALESCE(queued_at, created_at) AS since FROM event_outbox
        WHERE status = ? ORDER BY created_at LIMIT ${mostCounted}) AS first`,
      [status],
    );
    return { count: Number(row?.count ?? 0), oldest: timeOrNull(row?.oldest) };
  }
}
