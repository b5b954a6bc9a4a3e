import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import { timeOf, timeOrNull } from '../platform/database/sql';
import { Clock } from '../shared/clock';
import { eventStatus, fresh } from './outbox/event-rows';
import { EventWorker } from './outbox/event-worker';

export const eventStatusNames = [
  'waiting',
  'sent',
  'dead',
  'replayed',
] as const satisfies readonly (keyof typeof eventStatus)[];
export type EventStatusName = (typeof eventStatusNames)[number];

/** An event without its payload. */
export interface KeptEvent {
  /** The `webhook-id`. */
  readonly id: string;
  readonly type: string;
  /** Null for an event without a user, for example a failed login with an unknown name. */
  readonly userId: string | null;
  readonly status: EventStatusName;
  /** The `webhook-id` of the first sending, for an event that is replayed. */
  readonly replayOf: string | null;
  /** Whether the payload is there. It is deleted with the user, and moves to the event that replays this one. */
  readonly hasPayload: boolean;
  readonly createdAt: Date;
  /** When somebody asked for another sending. */
  readonly queuedAt: Date | null;
  readonly sentAt: Date | null;
}

export interface KeptEvents {
  readonly items: readonly KeptEvent[];
  /** The time in milliseconds and the number of the last item, or null when there are no more. */
  readonly next: readonly [createdAt: number, number: number] | null;
}

/** `unknown`: there is no such event, or it was not given up. `gone`: its payload was deleted. */
export type RetryOutcome = 'queued' | 'unknown' | 'gone';

type Row = Record<'created_at' | 'queued_at' | 'sent_at', unknown> & {
  readonly id: number;
  readonly event_id: string;
  readonly type: string;
  readonly stream: string;
  readonly status: number;
  readonly replay_of: string | null;
  readonly kept: number;
};

const columns = `id, event_id, type, stream, status, replay_of, created_at, queued_at, sent_at,
  CASE WHEN payload IS NULL THEN 0 ELSE 1 END AS kept`;

const names = Object.fromEntries(Object.entries(eventStatus).map(([name, value]) => [value, name])) as Record<
  number,
  EventStatusName
>;

/** The outbox for administrators: which events there are, and another try for one that was given up (ADR 0026). */
@Injectable()
export class KeptEventRows {
  constructor(
    private readonly database: Database,
    private readonly worker: EventWorker,
    private readonly clock: Clock,
  ) {}

  /** The newest events first; without a status, those that were queued last. @param limit at most 1000 */
  async list(status: EventStatusName | undefined, limit: number, after?: KeptEvents['next']): Promise<KeptEvents> {
    const most = `LIMIT ${limit <= 200 ? 201 : 1001}`;
    const rows =
      status === undefined
        ? await this.database.rows<Row>(`SELECT ${columns} FROM event_outbox WHERE id < ? ORDER BY id DESC ${most}`, [
            after?.[1] ?? Number.MAX_SAFE_INTEGER,
          ])
        : await this.ofStatus(eventStatus[status], most, after);
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      items: rows.slice(0, limit).map(viewOf),
      next: last === undefined ? null : [timeOf(last.created_at).getTime(), Number(last.id)],
    };
  }

  async find(id: string): Promise<(KeptEvent & { readonly payload: string | null }) | undefined> {
    const row = await this.database.row<Row & { payload: string | null }>(
      `SELECT ${columns}, payload FROM event_outbox WHERE event_id = ?`,
      [id],
    );
    return row === undefined ? undefined : { ...viewOf(row), payload: row.payload };
  }

  /**
   * Queues an event that was given up once more, with its `webhook-id` and its place in the order of its user: before the
   * events of the user that wait. Its back-off starts anew, and it is due at once.
   * Race: two retries, or a retry and a replay, on any replica. The first UPDATE wins; the other one finds no event that
   * was given up. A worker whose lease has ended cannot give the event up, because `queued_at` has changed.
   */
  async retry(tx: Transaction, id: string): Promise<RetryOutcome> {
    const now = this.clock.now();
    const won = await tx.won(
      `UPDATE event_outbox SET status = ?, queued_at = ?, fresh = CASE WHEN stream = event_id THEN ? ELSE ? END
       WHERE event_id = ? AND status = ? AND payload IS NOT NULL`,
      [eventStatus.waiting, now, fresh.anonymous, fresh.known, id, eventStatus.dead],
    );
    const row = await tx.row<{ status: number; stream: string }>(
      'SELECT status, stream FROM event_outbox WHERE event_id = ?',
      [id],
    );
    if (!won) return row?.status === eventStatus.dead ? 'gone' : 'unknown';
    // A later event of the user may wait for its next attempt. The sender that has the lease sets this time anew.
    await tx.affected('UPDATE event_streams SET next_attempt_at = ? WHERE stream = ? AND next_attempt_at > ?', [
      ...[now, row!.stream, now],
    ]);
    tx.afterCommit(() => this.worker.nudge());
    return 'queued';
  }

  private ofStatus(status: number, most: string, after?: KeptEvents['next']): Promise<Row[]> {
    const place = after ? 'AND created_at <= ? AND (created_at < ? OR id < ?)' : '';
    const at = new Date(after?.[0] ?? 0);
    return this.database.rows<Row>(
      `SELECT ${columns} FROM event_outbox WHERE status = ? ${place} ORDER BY created_at DESC, id DESC ${most}`,
      [status, ...(after ? [at, at, after[1]] : [])],
    );
  }
}

const viewOf = (row: Row): KeptEvent => ({
  id: row.event_id,
  type: row.type,
  userId: row.stream === row.event_id ? null : row.stream,
  status: names[row.status]!,
  replayOf: row.replay_of,
  hasPayload: Number(row.kept) === 1,
  createdAt: timeOf(row.created_at),
  queuedAt: timeOrNull(row.queued_at),
  sentAt: timeOrNull(row.sent_at),
});
