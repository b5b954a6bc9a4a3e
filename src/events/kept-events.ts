import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import { EventStreams } from './outbox/event-stream.repository';
import { EventWorker } from './outbox/event-worker';
import { eventStatus, type EventStatusName } from './outbox/outbox-event.entity';
import { type EventPlace, EventRows, type ListedEvent } from './outbox/outbox-event.repository';

export type { EventStatusName } from './outbox/outbox-event.entity';

export const eventStatusNames = Object.keys(eventStatus) as readonly EventStatusName[];

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
  /** The place of the last item, or null when there are no more. */
  readonly next: EventPlace | null;
}

/** `unknown`: there is no such event, or it was not given up. `gone`: its payload was deleted. */
export type RetryOutcome = 'queued' | 'unknown' | 'gone';

/** The outbox for administrators: which events there are, and another try for one that was given up (ADR 0026). */
@Injectable()
export class KeptEventRows {
  constructor(
    private readonly events: EventRows,
    private readonly streams: EventStreams,
    private readonly worker: EventWorker,
  ) {}

  /** The newest events first; without a status, those that were queued last. @param limit at most 1000 */
  async list(status: EventStatusName | undefined, limit: number, after?: KeptEvents['next']): Promise<KeptEvents> {
    const most = limit <= 200 ? 201 : 1001;
    const rows = await this.events.newest(status && eventStatus[status], most, after);
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      items: rows.slice(0, limit).map(viewOf),
      next: last === undefined ? null : [last.createdAt.getTime(), Number(last.id)],
    };
  }

  async find(id: string): Promise<(KeptEvent & { readonly payload: string | null }) | undefined> {
    const event = await this.events.find(id);
    if (event === null) return undefined;
    return { ...viewOf({ ...event, hasPayload: event.payload !== null }), payload: event.payload };
  }

  /** Queues an event that was given up once more. It is due at once, also when a later event of the user must wait. */
  async retry(tx: Transaction, id: string): Promise<RetryOutcome> {
    const won = await this.events.requeue(tx, id);
    const event = await this.events.find(id, tx);
    if (!won || event === null) return event?.status === eventStatus.dead ? 'gone' : 'unknown';
    await this.streams.hasten(tx, event.stream);
    tx.afterCommit(() => this.worker.nudge());
    return 'queued';
  }
}

const viewOf = (event: ListedEvent): KeptEvent => ({
  id: event.eventId,
  type: event.type,
  userId: event.stream === event.eventId ? null : event.stream,
  status: eventStatusNames.find((name) => eventStatus[name] === event.status)!,
  replayOf: event.replayOf,
  hasPayload: event.hasPayload,
  createdAt: event.createdAt,
  queuedAt: event.queuedAt,
  sentAt: event.sentAt,
});
