import { Injectable } from '@nestjs/common';
import { type AuditRow, type InsertRow, type LoginRow, LogSink } from '../audit/log-sink';
import type { Sql } from '../platform/database/sql';
import { auditEvent, loginEvent, type ServiceEvent } from './outbox/event';
import { EventWorker } from './outbox/event-worker';
import { type EventOwner, EventRows } from './outbox/outbox-event.repository';
import { Webhook } from './outbox/webhook';
import { ReceiverSettings } from './receiver-settings';
import { ReceiverEvents } from './receivers/receiver-events.repository';
import { ReceiverWorker } from './receivers/receiver-worker';
import { AuditLines } from './stream/audit-lines';

/**
 * Adds to each row of the logs what the settings ask for: with `WEBHOOK_URL` one outbox row in the same transaction,
 * with `EVENT_RECEIVERS` one row for all further receivers, with `AUDIT_STREAM` one line after the commit. With none of
 * them it only calls `insert`.
 */
@Injectable()
export class LogEvents extends LogSink {
  constructor(
    private readonly events: EventRows,
    private readonly worker: EventWorker,
    private readonly webhook: Webhook,
    private readonly lines: AuditLines,
    private readonly receivers: ReceiverSettings,
    private readonly receiverEvents: ReceiverEvents,
    private readonly receiverWorker: ReceiverWorker,
  ) {
    super();
  }

  get addedRows(): number {
    return Number(this.webhook.isOn) + Number(this.receivers.on);
  }

  audit(sql: Sql, row: AuditRow, insert: InsertRow): Promise<void> {
    return this.write(sql, row, insert, (id) => auditEvent(row, id));
  }

  login(sql: Sql, row: LoginRow, insert: InsertRow): Promise<void> {
    return this.write(sql, { userId: row.userId, actorId: null }, insert, (id) => loginEvent(row, id));
  }

  private async write(
    sql: Sql,
    owner: EventOwner,
    insert: InsertRow,
    describe: (id: number) => ServiceEvent,
  ): Promise<void> {
    if (this.webhook.isOn || this.receivers.on) {
      // A failed login is written without a transaction, and its event must not exist without it.
      await sql.together(async (tx) => {
        const event = describe(await insert(tx));
        if (this.webhook.isOn) await this.events.insert(tx, event, owner);
        if (this.receivers.on) await this.receiverEvents.insert(tx, event, owner.userId);
        tx.afterCommit(() => {
          this.lines.add(event);
          this.worker.nudge();
          this.receiverWorker.nudge();
        });
      });
      return;
    }
    const id = await insert(sql);
    if (this.lines.wanted) sql.afterCommit(() => this.lines.add(describe(id)));
  }
}
