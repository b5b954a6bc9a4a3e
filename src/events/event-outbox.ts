import { Injectable } from '@nestjs/common';
import { UserTraces } from '../platform/database/user-traces';
import { Clock } from '../shared/clock';
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

/** The events as the operator sees them: start of the server, metrics, `doctor`, `purge`. */
@Injectable()
export class EventOutbox {
  constructor(
    private readonly events: EventRows,
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
    const [waiting, dead] = [
      await this.events.counted(eventStatus.waiting),
      await this.events.counted(eventStatus.dead),
    ];
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
  purgeOld(before: Date, limit: number): Promise<number> {
    return this.events.purgeOld(before, limit);
  }

  /** Deletes what the events tell about a deleted user. An event that waits is still sent. */
  forgetUser(userId: string): Promise<void> {
    return this.events.forgetUser(userId);
  }
}
