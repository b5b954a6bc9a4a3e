import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { OutboxWorker } from '../../platform/outbox/outbox-worker';
import { Clock } from '../../shared/clock';
import { ReceiverLimits } from '../receiver-limits';
import { type ClaimedReceiver, EventReceiverRows } from './event-receivers.repository';
import { ReceiverEvents } from './receiver-events.repository';
import { ReceiverTurn, type TurnOutcome } from './receiver-turn';

/**
 * Gives each event its place, and each receiver that is behind a turn; every replica runs one worker. There is a slot for
 * each receiver, so one that hangs or fails holds up no other one.
 */
@Injectable()
export class ReceiverWorker implements OnModuleDestroy {
  private readonly worker: OutboxWorker<ClaimedReceiver, TurnOutcome>;

  constructor(
    private readonly receivers: EventReceiverRows,
    private readonly events: ReceiverEvents,
    turn: ReceiverTurn,
    clock: Clock,
    limits: ReceiverLimits,
  ) {
    this.worker = new OutboxWorker<ClaimedReceiver, TurnOutcome>(
      {
        what: 'receivers',
        idOf: ({ id }) => id,
        claim: (wanted) => this.claim(wanted),
        attempt: (receiver, signal) => turn.make(receiver, signal),
        write: (receiver, outcome) => this.write(receiver, outcome),
        handBack: (receiver) => this.receivers.release(receiver),
        waitsAfter: ({ kind }) => kind === 'failed',
      },
      clock,
      limits,
    );
  }

  startPolling(): void {
    this.worker.startPolling();
  }

  nudge(): void {
    this.worker.nudge();
  }

  sendDue(): Promise<void> {
    return this.worker.sendDue();
  }

  async onModuleDestroy(): Promise<void> {
    await this.worker.stop();
  }

  private async claim(wanted: number): Promise<ClaimedReceiver[]> {
    await this.events.order();
    return this.receivers.claim(await this.events.last(), wanted);
  }

  /** A failure of a receiver that an administrator has changed meanwhile does not count: it is due at once. */
  private async write(receiver: ClaimedReceiver, outcome: TurnOutcome): Promise<boolean> {
    const postponed = outcome.kind === 'failed' && (await this.receivers.postpone(receiver, outcome));
    return postponed || this.receivers.release(receiver);
  }
}
