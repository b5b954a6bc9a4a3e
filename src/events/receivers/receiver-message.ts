import { createHash } from 'node:crypto';
import type { ServiceEvent } from '../outbox/event';
import type { TokenSigner } from '../receiver-settings';
import type { EventReceiver } from './event-receiver.entity';
import { securityEventToken } from './security-event';

export interface Message {
  readonly id: string;
  readonly contentType: string;
  readonly body: string;
}

interface Sending {
  /** The id of the first sending. */
  readonly eventId: string;
  /** Null for an event that is tried, and not kept. */
  readonly place: number | null;
  readonly payload: string;
}

interface Place {
  readonly systemUrl: string;
  readonly signer: TokenSigner | undefined;
  readonly now: Date;
}

type Receiver = Pick<EventReceiver, 'format' | 'url' | 'audience' | 'replayUntil' | 'replays'>;

/** @returns what is posted, or undefined when the event has no meaning in the format of the receiver */
export function messageOf(
  receiver: Receiver,
  sending: Sending,
  { systemUrl, signer, now }: Place,
): Message | undefined {
  const event = JSON.parse(sending.payload) as ServiceEvent;
  const isReplay = sending.place !== null && sending.place <= receiver.replayUntil;
  const id = isReplay ? replayId(sending.eventId, receiver.replays) : sending.eventId;
  const replayOf = isReplay ? sending.eventId : undefined;
  if (receiver.format === 'set') {
    const envelope = { id, replayOf, audience: receiver.audience ?? receiver.url, now };
    const body = signer && securityEventToken(event, envelope, signer);
    return body === undefined ? undefined : { id, contentType: 'application/secevent+jwt', body };
  }
  if (receiver.format === 'cloudevents') {
    const body = JSON.stringify(cloudEvent(event, { id, replayOf, source: systemUrl }));
    return { id, contentType: 'application/cloudevents+json; charset=utf-8', body };
  }
  const body = isReplay ? JSON.stringify({ ...event, replay_of: replayOf }) : sending.payload;
  return { id, contentType: 'application/json', body };
}

/** CloudEvents 1.0.2, structured mode of the HTTP binding. `replayof` is an extension: its name allows no other letters. */
function cloudEvent(
  { type, timestamp, data }: ServiceEvent,
  { id, replayOf, source }: { readonly id: string; readonly replayOf: string | undefined; readonly source: string },
): object {
  return {
    ...{ specversion: '1.0', id, source, type },
    ...(typeof data.user_id === 'string' && { subject: data.user_id }),
    ...{ time: timestamp, datacontenttype: 'application/json' },
    ...(replayOf !== undefined && { replayof: replayOf }),
    data,
  };
}

/** Another id for each replay, and the same one at each attempt: a receiver ignores ids that it has handled. */
function replayId(eventId: string, replays: number): string {
  const hex = createHash('sha256').update(`${eventId} ${replays}`).digest('hex');
  // A UUID of version 8 (RFC 9562): its bits are our own.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
