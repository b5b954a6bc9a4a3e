import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type OutboxQueue, OutboxWorker } from '../../platform/outbox/outbox-worker';
import { Clock } from '../../shared/clock';
import { EventLimits } from '../event-limits';
import { EventAttempt, type Outcome } from './event-attempt';
import { type StreamStatus, streamStatus } from './event-stream.entity';
import { type ClaimedStream, EventStreams } from './event-stream.repository';
import { fresh } from './outbox-event.entity';
import { EventRows } from './outbox-event.repository';

type Lane = OutboxWorker<ClaimedStream, Outcome>;

/**
 * Sends the waiting events, in lanes with parallel POSTs of their own: one for first attempts and one for retries, and
 * the same two for anonymous events. So no user waits for the retries of another one, nor for a flood of failed
 * logins with unknown names. A lane of retries pauses until the next poll after a failure: while the receiver is down, a
 * replica makes a few attempts each second, however many events wait.
 */
@Injectable()
export class EventWorker implements OnModuleDestroy {
  private readonly first: readonly Lane[];
  private readonly retries: readonly Lane[];

  constructor(
    private readonly events: EventRows,
    private readonly streams: EventStreams,
    private readonly attempt: EventAttempt,
    private readonly clock: Clock,
    limits: EventLimits,
  ) {
    const lane = (status: StreamStatus, more: Partial<OutboxQueue<ClaimedStream, Outcome>> = {}): Lane =>
      new OutboxWorker({ ...this.queueOf(status), ...more }, clock, limits);
    const waitsAfter = ({ kind }: Outcome) => kind === 'failed';
    this.first = [lane(streamStatus.ready), lane(streamStatus.anonymous)];
    this.retries = [lane(streamStatus.failing, { waitsAfter }), lane(streamStatus.anonymousFailing, { waitsAfter })];
  }

  startPolling(): void {
    for (const lane of [...this.first, ...this.retries]) lane.startPolling();
  }

  nudge(): void {
    for (const lane of this.first) lane.nudge();
  }

  /** The lanes do not wait for each other. A stream whose first event has been retried may have more events. */
  async sendDue(): Promise<void> {
    for (const lanes of [this.first, this.retries, this.first]) {
      await Promise.all(lanes.map((lane) => lane.sendDue()));
    }
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.first, ...this.retries].map((lane) => lane.stop()));
  }

  private queueOf(status: StreamStatus): OutboxQueue<ClaimedStream, Outcome> {
    return {
      what: 'events',
      idOf: ({ stream }) => stream,
      claim: async (wanted) => {
        if (status === streamStatus.ready) await this.streams.admit(fresh.known);
        if (status === streamStatus.anonymous) await this.streams.admit(fresh.anonymous);
        return this.streams.claim(status, wanted);
      },
      attempt: (stream, signal) => this.attempt.make(stream, signal),
      write: (stream, outcome) => this.write(stream, outcome),
      handBack: (stream, outcome) =>
        outcome.kind === 'failed'
          ? this.streams.postpone(stream, this.clock.now(), outcome.failure)
          : this.write(stream, outcome),
    };
  }

  private async write(stream: ClaimedStream, outcome: Outcome): Promise<boolean> {
    if (outcome.kind === 'failed') return this.streams.postpone(stream, outcome.again, outcome.failure);
    if (outcome.kind === 'settled') await this.events.settle(outcome.event, outcome.status);
    return this.streams.release(stream);
  }
}
