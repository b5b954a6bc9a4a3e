import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type OutboxQueue, OutboxWorker } from '../../platform/outbox/outbox-worker';
import { Clock } from '../../shared/clock';
import { EventLimits } from '../event-limits';
import { EventAttempt, type Outcome } from './event-attempt';
import { EventRows } from './event-rows';
import { type ClaimedStream, EventStreams, type StreamStatus, streamStatus } from './event-streams';

type Lane = OutboxWorker<ClaimedStream, Outcome>;

/**
 * Sends the waiting events, in two lanes with parallel POSTs of their own. A user whose event failed moves to the
 * second lane, so that no user waits for the retries of another one. The second lane pauses until the next poll after
 * a failure: while the receiver is down, a replica makes a few attempts each second, however many events wait.
 */
@Injectable()
export class EventWorker implements OnModuleDestroy {
  private readonly ready: Lane;
  private readonly failing: Lane;

  constructor(
    private readonly events: EventRows,
    private readonly streams: EventStreams,
    private readonly attempt: EventAttempt,
    private readonly clock: Clock,
    limits: EventLimits,
  ) {
    const lane = (queue: OutboxQueue<ClaimedStream, Outcome>) => new OutboxWorker(queue, clock, limits);
    this.ready = lane(this.queueOf(streamStatus.ready));
    const isFailure = ({ kind }: Outcome) => kind === 'failed';
    this.failing = lane({ ...this.queueOf(streamStatus.failing), waitsAfter: isFailure });
  }

  startPolling(): void {
    this.ready.startPolling();
    this.failing.startPolling();
  }

  nudge(): void {
    this.ready.nudge();
  }

  async sendDue(): Promise<void> {
    await this.ready.sendDue();
    await this.failing.sendDue();
    // A stream whose first event has been retried may have more events.
    await this.ready.sendDue();
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.ready.stop(), this.failing.stop()]);
  }

  private queueOf(status: StreamStatus): OutboxQueue<ClaimedStream, Outcome> {
    return {
      what: 'events',
      idOf: ({ stream }) => stream,
      claim: async (wanted) => {
        if (status === streamStatus.ready) await this.streams.admit();
        return this.streams.claim(status, wanted);
      },
      attempt: (stream, signal) => this.attempt.make(stream, signal),
      write: (stream, outcome) => this.write(stream, outcome),
      handBack: (stream, outcome) =>
        outcome.kind === 'failed' ? this.streams.postpone(stream, this.clock.now()) : this.write(stream, outcome),
    };
  }

  private async write(stream: ClaimedStream, outcome: Outcome): Promise<boolean> {
    if (outcome.kind === 'failed') return this.streams.postpone(stream, outcome.again);
    if (outcome.kind === 'settled') await this.events.settle(outcome.id, outcome.status);
    return this.streams.release(stream);
  }
}
