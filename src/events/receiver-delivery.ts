import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import type { OldRows } from '../platform/database/old-rows';
import type { ToldTable } from '../platform/database/told-rows';
import { UserTraces } from '../platform/database/user-traces';
import { settledSeconds } from '../platform/outbox/settled-rows';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { webhookTestType } from './event-types';
import { EventReceivers, type EventReceiver } from './event-receivers';
import { ReceiverLimits } from './receiver-limits';
import { ReceiverSettings } from './receiver-settings';
import { ReceiverEvents } from './receivers/receiver-events.repository';
import { ReceiverPost } from './receivers/receiver-post';
import { ReceiverWorker } from './receivers/receiver-worker';

export interface ReceiverFigures {
  readonly receiver: string;
  /** At most 100,000. */
  readonly waiting: number;
  /** 0 while it accepts events, and when it is paused. */
  readonly failingSeconds: number;
  readonly setAside: number;
}

/** Whether all receivers have got the event or not: one that has been away for longer loses the events before. */
export const oldReceiverEvents: OldRows = {
  ...{ table: 'receiver_events', key: 'id', time: 'created_at', seconds: settledSeconds },
};

/** The payload repeats a row of the logs. */
const toldEvents: ToldTable = {
  table: 'receiver_events',
  user: 'user_id',
  order: ['id'],
  columns: {
    ...{ id: 'internal', event_id: 'value', type: 'value', tenant_id: 'value' },
    ...{ payload: 'withheld', place: 'internal', created_at: 'time' },
  },
};

/** The receivers as operators see them: start of the server, metrics, the test of a receiver, `purge` and the erasure. */
@Injectable()
export class ReceiverDelivery {
  constructor(
    private readonly events: ReceiverEvents,
    private readonly receivers: EventReceivers,
    private readonly worker: ReceiverWorker,
    private readonly sender: ReceiverPost,
    private readonly settings: ReceiverSettings,
    private readonly limits: ReceiverLimits,
    private readonly clock: Clock,
    private readonly random: Random,
    traces: UserTraces,
  ) {
    traces.register({ tables: ['receiver_events'], told: [toldEvents], settle: (uid) => this.events.forgetUser(uid) });
  }

  /** Only the server calls it. */
  start(): void {
    if (this.isOn) this.worker.startPolling();
  }

  get isOn(): boolean {
    return this.settings.on;
  }

  /** Whether a receiver may have the format `set`. */
  get signsTokens(): boolean {
    return this.settings.signer !== undefined;
  }

  /** Sends each receiver what is due now instead of at the next poll. */
  sendDue(): Promise<void> {
    return this.worker.sendDue();
  }

  /** Call it in the transaction that gives the user another tenant. Without further receivers it sends no statement. */
  async leavesTenant(tx: Transaction, userId: string, tenantId: string): Promise<void> {
    if (this.isOn) await this.events.keepTenant(tx, userId, tenantId);
  }

  /** Of each receiver. Undefined with `EVENT_RECEIVERS=off`. */
  async figures(): Promise<ReceiverFigures[] | undefined> {
    if (!this.isOn) return undefined;
    const now = this.clock.now().getTime();
    return (await this.receivers.list()).map(({ receiver, waiting }) => ({
      ...{ receiver: receiver.id, waiting, setAside: receiver.setAside },
      failingSeconds: receiver.failingSince === null ? 0 : Math.max(0, now - receiver.failingSince.getTime()) / 1000,
    }));
  }

  /** Posts one event now, past the log. @returns undefined when the receiver has accepted it, or the reason */
  async test(receiver: EventReceiver): Promise<string | undefined> {
    const data = { user_id: null };
    const event = { type: webhookTestType, timestamp: this.clock.now().toISOString(), data };
    const sending = { eventId: this.random.uuid(), place: null, payload: JSON.stringify(event) };
    const message = this.sender.message(receiver, sending);
    if (message === undefined) return 'OIDC is off';
    return (await this.sender.post(receiver, message, AbortSignal.timeout(this.limits.sendMs)))?.reason;
  }
}
