import { Injectable } from '@nestjs/common';
import { Webhook as Signer } from 'standardwebhooks';
import { EventSettings } from '../../audit/event-settings';
import { boundedDelivery } from '../../platform/http/bounded-request';
import { version } from '../../platform/version';
import { Clock } from '../../shared/clock';
import type { WaitingEvent } from './outbox-event.repository';

/** What a POST needs of an event. */
export type PostedEvent = Pick<WaitingEvent, 'eventId' | 'payload'> & Partial<Pick<WaitingEvent, 'replayOf'>>;

/** Posts events to `WEBHOOK_URL`, signed as Standard Webhooks says (https://www.standardwebhooks.com). */
@Injectable()
export class Webhook {
  private readonly url: string;
  private readonly signer: Signer | undefined;

  constructor(
    { webhook }: EventSettings,
    private readonly clock: Clock,
  ) {
    this.url = webhook?.url ?? '';
    this.signer = webhook === undefined ? undefined : new Signer(webhook.secret);
  }

  /** Whether `WEBHOOK_URL` is set. */
  get isOn(): boolean {
    return this.signer !== undefined;
  }

  /**
   * Makes one attempt and never throws. Each attempt has its own timestamp, because receivers refuse an old one.
   * @returns undefined when the receiver has accepted the event, or the reason: a code or a fixed word, without the URL
   */
  async post({ eventId, payload, replayOf }: PostedEvent, signal: AbortSignal): Promise<string | undefined> {
    if (this.signer === undefined) return 'WEBHOOK_URL is not set';
    const now = this.clock.now();
    const body = replayOf ? withReplayOf(payload, replayOf) : payload;
    return boundedDelivery(this.url, signal, {
      headers: {
        'content-type': 'application/json',
        'user-agent': `portal-authentication/${version}`,
        'webhook-id': eventId,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': this.signer.sign(eventId, now, body),
      },
      body,
    });
  }
}

/** The stored payload is that of the first sending. */
function withReplayOf(payload: string, replayOf: string): string {
  return JSON.stringify({ ...(JSON.parse(payload) as object), replay_of: replayOf });
}
