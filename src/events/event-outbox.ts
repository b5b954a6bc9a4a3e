import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit-trail';
import type { ToldTable } from '../platform/database/told-rows';
import { UserTraces } from '../platform/database/user-traces';
import { Clock } from '../shared/clock';
import { auditTypes } from './event-types';
import { EventStreams } from './outbox/event-stream.repository';
import { EventWorker } from './outbox/event-worker';
import { eventStatus } from './outbox/outbox-event.entity';
import { EventRows } from './outbox/outbox-event.repository';
import { Webhook } from './outbox/webhook';
import { AuditLines } from './stream/audit-lines';

export interface EventFigures {
  /** At most 100,000, like `dead`: a greater number tells an operator no more, and to count it would take seconds. */
  readonly waiting: number;
  /** 0 when nothing waits. */
  readonly oldestWaitingSeconds: number;
  /** Events that were given up and are not purged yet. */
  readonly dead: number;
}

/** Whether the receiver has an event. The attempts are those for the first event of the user that waits. */
export interface EventDelivery {
  readonly status: 'waiting' | 'told' | 'failed';
  /** Null when the event has left its stream: only the result is kept then. */
  readonly attempts: number | null;
  readonly answeredAt: Date | null;
  readonly answer: string | null;
  readonly nextAttemptAt: Date | null;
}

/** The payload repeats a row of the logs. */
const toldEvents: ToldTable = {
  table: 'event_outbox',
  section: 'events',
  user: 'stream',
  order: ['id'],
  names: { event_id: 'webhook_id' },
  columns: {
    ...{ id: 'internal', event_id: 'value', type: 'value', created_at: 'time', queued_at: 'time', sent_at: 'time' },
    status: Object.fromEntries(Object.entries(eventStatus).map(([name, value]) => [value, name])),
    ...{ replay_of: 'value', payload: 'withheld', fresh: 'internal', erased: 'internal' },
  },
};

const nothingTried = { attempts: null, answeredAt: null, answer: null, nextAttemptAt: null };

/** The events as the operator sees them: start of the server, metrics, `doctor`, `purge`. */
@Injectable()
export class EventOutbox {
  constructor(
    private readonly events: EventRows,
    private readonly worker: EventWorker,
    private readonly webhook: Webhook,
    private readonly lines: AuditLines,
    private readonly streams: EventStreams,
    private readonly clock: Clock,
    traces: UserTraces,
  ) {
    traces.register({ tables: ['event_outbox'], told: [toldEvents], settle: (uid) => this.forgetUser(uid) });
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
    const [waiting, dead] = [
      await this.events.counted(eventStatus.waiting),
      await this.events.counted(eventStatus.dead),
    ];
    const age = waiting.oldest === null ? 0 : (this.clock.now().getTime() - waiting.oldest.getTime()) / 1000;
    return { waiting: waiting.count, oldestWaitingSeconds: Math.max(0, age), dead: dead.count };
  }

  /** Whether the events have a receiver. */
  get isOn(): boolean {
    return this.webhook.isOn;
  }

  /** What became of the first event of this kind about a user since a time. Undefined when it was purged, or never queued. */
  async delivery(userId: string, event: AuditEvent, since: Date): Promise<EventDelivery | undefined> {
    const found = await this.events.firstSince(userId, auditTypes[event], since);
    if (found === null) return undefined;
    if (found.status !== eventStatus.waiting) {
      const isSent = found.status === eventStatus.sent;
      return { ...nothingTried, status: isSent ? 'told' : 'failed', answeredAt: found.sentAt };
    }
    const stream = await this.streams.find(userId);
    if (!this.webhook.isOn) return { ...nothingTried, status: 'waiting', answer: 'WEBHOOK_URL is not set' };
    if (stream === null) return { ...nothingTried, status: 'waiting' };
    const { attempts, answer, nextAttemptAt } = stream;
    return { status: 'waiting', attempts, answer, nextAttemptAt, answeredAt: null };
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
  purgeOld(before: Date, limit: number): Promise<number> {
    return this.events.purgeOld(before, limit);
  }

  /** Deletes what the events tell about a deleted user. An event that waits is still sent. */
  forgetUser(userId: string): Promise<void> {
    return this.events.forgetUser(userId);
  }
}
