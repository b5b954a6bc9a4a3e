import { Injectable, Logger } from '@nestjs/common';
import { EventSettings } from '../../audit/event-settings';
import { retryAt } from '../../platform/outbox/back-off';
import { Clock } from '../../shared/clock';
import { LogThrottle } from '../../shared/log-throttle';
import { Random } from '../../shared/random';
import { EventLimits } from '../event-limits';
import type { ClaimedStream } from './event-stream.repository';
import { eventStatus, type FinalEventStatus } from './outbox-event.entity';
import { EventRows, type WaitingEvent } from './outbox-event.repository';
import { Webhook } from './webhook';

/** `settled`: the event gets its final status. `none`: no event of the stream waits. */
export type Outcome =
  | { readonly kind: 'settled'; readonly event: WaitingEvent; readonly status: FinalEventStatus }
  | { readonly kind: 'failed'; readonly again: Date; readonly failure: string }
  | { readonly kind: 'none' };

/** Makes one attempt to send the first event of a stream. It never logs the URL or the content of an event. */
@Injectable()
export class EventAttempt {
  private readonly logger = new Logger('events');
  private readonly outage = new LogThrottle();
  private readonly losses = new LogThrottle();
  private readonly giveUpMs: number;
  /** Whether the log says that the receiver is away. */
  private away = false;

  constructor(
    private readonly events: EventRows,
    private readonly webhook: Webhook,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly limits: EventLimits,
    { giveUpHours }: EventSettings,
  ) {
    this.giveUpMs = giveUpHours * 3_600_000;
  }

  async make({ stream, attempts }: ClaimedStream, signal: AbortSignal): Promise<Outcome> {
    const event = await this.events.first(stream);
    if (event === undefined) return { kind: 'none' };
    const failure = await this.webhook.post(event, signal);
    if (failure !== undefined) return this.judge(event, attempts, failure);
    if (this.away) this.logger.log('the webhook receiver accepts events again, those that wait are sent');
    this.away = false;
    return { kind: 'settled', event, status: eventStatus.sent };
  }

  /** Whatever the failure is, the next attempt may succeed: the receiver may be repaired, or get another version. */
  private judge(event: WaitingEvent, attempts: number, failure: string): Outcome {
    const now = this.clock.now();
    const told = { event: event.eventId, type: event.type, attempts, failure };
    const createdAt = event.queuedAt ?? event.createdAt;
    const expires = new Date(createdAt.getTime() + this.giveUpMs);
    if (now >= expires) {
      if (this.losses.allows(now)) {
        this.logger.error(told, 'events are given up after EVENTS_GIVE_UP_HOURS: see `events list --status dead`');
      }
      return { kind: 'settled', event, status: eventStatus.dead };
    }
    if (this.outage.allows(now)) {
      this.away = true;
      this.logger.warn(told, 'the webhook receiver did not accept an event, events wait and are tried again');
    }
    const again = retryAt({ createdAt, expires }, now, this.limits.retryCapMs, this.random);
    return { kind: 'failed', again, failure };
  }
}
