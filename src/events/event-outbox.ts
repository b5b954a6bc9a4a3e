import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { deleteBatch, type OutboxFigures, outboxFigures } from '../platform/outbox/settled-rows';
import { Clock } from '../shared/clock';
import { eventStatus } from './outbox/event-rows';
import { EventWorker } from './outbox/event-worker';
import { AuditLines } from './stream/audit-lines';
import { Webhook } from './webhook/webhook';

/** The events as the operator sees them: start of the server, metrics, `doctor`, `purge`. */
@Injectable()
export class EventOutbox {
  constructor(
    private readonly database: Database,
    private readonly worker: EventWorker,
    private readonly webhook: Webhook,
    private readonly lines: AuditLines,
    private readonly clock: Clock,
  ) {}

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
  async figures(): Promise<OutboxFigures | undefined> {
    return this.webhook.isOn ? outboxFigures(this.database, this.clock, 'event_outbox', eventStatus) : undefined;
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
}
