import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Webhook as Signer } from 'standardwebhooks';
import { ServiceSettings } from '../../platform/config/service-settings';
import { DataKeyMismatch } from '../../platform/crypto/key-ring';
import { guardedRequest } from '../../platform/http/guarded-request';
import { Clock } from '../../shared/clock';
import { ReceiverLimits } from '../receiver-limits';
import { ReceiverSettings } from '../receiver-settings';
import type { EventReceiver } from './event-receiver.entity';
import { type Message, messageOf } from './receiver-message';
import { ReceiverSecrets } from './receiver-secrets';

/** `refused`: the receiver has read the event and does not take it, so that another try changes nothing. */
export interface PostFailure {
  readonly reason: string;
  readonly kind: 'refused' | 'answered' | 'unreachable';
}

/** The receiver objects to the content, not to the sender or the moment. */
const refusals = [400, 413, 415, 422];
const largestAnswer = 4096;
/** Below the five seconds after which a server of Node, for example, closes an idle connection. */
const idleMs = 4000;

/** Posts an event to a receiver, whose address an administrator has chosen. It never logs the URL or the content. */
@Injectable()
export class ReceiverPost implements OnApplicationShutdown {
  /** Connections are kept for the next event. A new one costs a handshake of TLS. */
  private readonly agents = {
    'http:': new HttpAgent({ keepAlive: true, timeout: idleMs }),
    'https:': new HttpsAgent({ keepAlive: true, timeout: idleMs }),
  };

  constructor(
    private readonly secrets: ReceiverSecrets,
    private readonly service: ServiceSettings,
    private readonly settings: ReceiverSettings,
    private readonly limits: ReceiverLimits,
    private readonly clock: Clock,
  ) {}

  /** Whether the receiver gets tokens, and there is no key to sign them. */
  lacksKey({ format }: EventReceiver): boolean {
    return format === 'set' && this.settings.signer === undefined;
  }

  /** @returns undefined for an event that has no meaning in the format of the receiver */
  message(
    receiver: EventReceiver,
    sending: { readonly eventId: string; readonly place: number | null; readonly payload: string },
  ): Message | undefined {
    const { systemUrl } = this.service;
    return messageOf(receiver, sending, { systemUrl, signer: this.settings.signer, now: this.clock.now() });
  }

  /** Makes one attempt. @returns undefined when the receiver has accepted the event */
  async post(receiver: EventReceiver, message: Message, signal: AbortSignal): Promise<PostFailure | undefined> {
    const { id, contentType, body } = message;
    const now = this.clock.now();
    const signature = this.signatures(receiver, id, now, body);
    if (signature === undefined) return failureOf('secret not readable');
    const outcome = await guardedRequest({
      url: receiver.url,
      method: 'POST',
      headers: {
        'content-type': contentType,
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': signature,
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(this.limits.postMs)]),
      https: this.service.production,
      largestBody: largestAnswer,
      statusDecides: true,
      agent: this.agents[receiver.url.startsWith('https:') ? 'https:' : 'http:'],
    });
    if ('failure' in outcome) return failureOf(outcome.failure);
    const { status, text } = outcome;
    if (status >= 200 && status < 300) return undefined;
    const error = receiver.format === 'set' && status === 400 ? errorOf(text) : '';
    return failureOf(`status ${status}${error}`);
  }

  onApplicationShutdown(): void {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }

  /**
   * During a rotation one signature by each secret: a receiver needs to know one of them.
   * @returns undefined when no key of this replica opens a secret, which an operator has to learn
   */
  private signatures(receiver: EventReceiver, id: string, now: Date, body: string): string | undefined {
    try {
      const secrets = this.secrets.open(receiver, now);
      return secrets.map((secret) => new Signer(secret).sign(id, now, body)).join(' ');
    } catch (error) {
      if (error instanceof DataKeyMismatch) return undefined;
      throw error;
    }
  }
}

/** By the reason, which is kept in the row of the receiver. */
export function kindOf(reason: string): PostFailure['kind'] {
  const [, status] = /^status (\d+)/.exec(reason) ?? [];
  if (status === undefined) return 'unreachable';
  return refusals.includes(Number(status)) ? 'refused' : 'answered';
}

const failureOf = (reason: string): PostFailure => ({ reason, kind: kindOf(reason) });

/** The `err` of RFC 8935 §2.4, if it is a word. Its `description` is a text of others, which no log should repeat. */
function errorOf(text: string): string {
  try {
    const { err } = JSON.parse(text) as { err?: unknown };
    return typeof err === 'string' && /^[a-z_]{1,40}$/.test(err) ? ` ${err}` : '';
  } catch {
    return '';
  }
}
