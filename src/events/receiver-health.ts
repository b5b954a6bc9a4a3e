import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { receiverStatus } from './receivers/event-receiver.entity';
import { EventReceiverRows } from './receivers/event-receivers.repository';
import { ReceiverSettings } from './receiver-settings';

/** A receiver that fails for this long needs an operator. Shorter outages end by themselves. */
const failedTooLongSeconds = 900;

export interface FailingReceiver {
  readonly id: string;
  readonly seconds: number;
  /** A status or a code, as the sender has stored it. */
  readonly error: string;
}

export interface ReceiverFigures {
  readonly total: number;
  readonly paused: number;
  readonly failing: readonly FailingReceiver[];
}

/** Which receivers an operator should look at. It reads their rows, of which there are at most 20, and no event. */
@Injectable()
export class ReceiverHealth {
  constructor(
    private readonly rows: EventReceiverRows,
    private readonly settings: ReceiverSettings,
    private readonly clock: Clock,
  ) {}

  /** Whether events are kept for receivers. */
  get isOn(): boolean {
    return this.settings.on;
  }

  async figures(): Promise<ReceiverFigures> {
    const [receivers, now] = [await this.rows.list(), this.clock.now().getTime()];
    const paused = receivers.filter(({ status }) => status === receiverStatus.paused).length;
    const failing = receivers.flatMap(({ id, status, failingSince, lastError }) => {
      if (status === receiverStatus.paused || failingSince === null) return [];
      const seconds = Math.floor((now - failingSince.getTime()) / 1000);
      return seconds < failedTooLongSeconds ? [] : [{ id, seconds, error: lastError ?? 'no answer' }];
    });
    return { total: receivers.length, paused, failing };
  }
}
