import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { EventLimits } from './event-limits';
import { webhookTestType } from './event-types';
import { Webhook } from './outbox/webhook';

/** Posts one event now, past the outbox, for an operator who waits for the result. */
@Injectable()
export class WebhookTest {
  constructor(
    private readonly webhook: Webhook,
    private readonly limits: EventLimits,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /** Whether `WEBHOOK_URL` is set. */
  get isOn(): boolean {
    return this.webhook.isOn;
  }

  /** @returns undefined when the receiver has accepted the event, or the reason, without the URL */
  post(): Promise<string | undefined> {
    const event = { type: webhookTestType, timestamp: this.clock.now().toISOString(), data: {} };
    const posted = { eventId: this.random.uuid(), payload: JSON.stringify(event) };
    return this.webhook.post(posted, AbortSignal.timeout(this.limits.sendMs));
  }
}
