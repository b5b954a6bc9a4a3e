import { Injectable } from '@nestjs/common';
import { EventReplay } from '../events/event-replay';
import { type EventStatusName, type KeptEvent, KeptEventRows, type KeptEvents } from '../events/kept-events';
import { WebhookTest } from '../events/webhook-test';
import { isUuid } from '../shared/uuid';
import { AdminChanges } from './admin-changes';
import type { Authority } from './authority';
import { EntryNotFound, EntryProblem } from './entries';

/** Rows of one transaction. */
const batchRows = 500;
/** Events that one request replays: it must end within the time of a request. A command may replay more. */
export const mostReplayed = { request: 10_000, command: 100_000 } as const;

export interface Replayed {
  readonly queued: number;
  /** Events whose payload was deleted, or which another replay has queued. */
  readonly skipped: number;
}

/** The events of the outbox, and the test of the webhook. Only the root tenant reaches this service. */
@Injectable()
export class Events {
  constructor(
    private readonly kept: KeptEventRows,
    private readonly replays: EventReplay,
    private readonly webhook: WebhookTest,
    private readonly changes: AdminChanges,
  ) {}

  /** The newest events first, without their payload. @param limit at most 1000 */
  list(status: EventStatusName | undefined, limit: number, after?: KeptEvents['next']): Promise<KeptEvents> {
    return this.kept.list(status, limit, after);
  }

  /** @throws EntryNotFound */
  async show(id: string): Promise<KeptEvent & { readonly payload: string | null }> {
    const event = isUuid(id) ? await this.kept.find(id) : undefined;
    if (event === undefined) throw new EntryNotFound(`there is no event ${JSON.stringify(id)}`);
    return event;
  }

  /**
   * @throws EntryNotFound when there is no event with this id that was given up
   * @throws EntryProblem when its payload was deleted
   */
  async retry(by: Authority, id: string): Promise<void> {
    await this.changes.make(by, async ({ tx, record }) => {
      const outcome = isUuid(id) ? await this.kept.retry(tx, id) : 'unknown';
      if (outcome === 'unknown') throw new EntryNotFound(`there is no event ${JSON.stringify(id)} that was given up`);
      if (outcome === 'gone') throw new EntryProblem('id', 'the payload of the event was deleted: it cannot be sent');
      await record('EVENT_RETRIED', { detail: { event: id } });
    });
  }

  /**
   * Sends the events from `from` to before `to` that were sent or given up once more, as new ones. Each batch is a
   * transaction with an audit row. After a crash, the events of the batches before it are queued.
   * @throws EntryProblem when the time is empty or has more than `most` events
   */
  async replay(by: Authority, from: Date, to: Date, most: number): Promise<Replayed> {
    if (from >= to) throw new EntryProblem('to', 'to must be later than from');
    const ids = await this.replays.candidates(from, to, most + 1);
    if (ids.length > most) {
      throw new EntryProblem('to', `there are more than ${most} events: choose a shorter time`);
    }
    let queued = 0;
    for (let first = 0; first < ids.length; first += batchRows) {
      queued += await this.changes.make(by, async ({ tx, record }) => {
        const events = await this.replays.copy(tx, ids.slice(first, first + batchRows));
        await record('EVENTS_REPLAYED', { detail: { from: from.toISOString(), to: to.toISOString(), events } });
        return events;
      });
    }
    return { queued, skipped: ids.length - queued };
  }

  /**
   * The audit row comes first, so that no request leaves the service without one.
   * @returns undefined when the receiver has accepted the event, or the reason
   */
  async testWebhook(by: Authority): Promise<string | undefined> {
    if (!this.webhook.isOn) return 'WEBHOOK_URL is not set';
    await this.changes.make(by, ({ record }) => record('WEBHOOK_TESTED'));
    return this.webhook.post();
  }
}

/** What the API and the command line show of an event. */
export const eventView = (event: KeptEvent) => ({
  id: event.id,
  type: event.type,
  user_id: event.userId,
  status: event.status,
  replay_of: event.replayOf,
  has_payload: event.hasPayload,
  created_at: event.createdAt.toISOString(),
  queued_at: event.queuedAt?.toISOString() ?? null,
  sent_at: event.sentAt?.toISOString() ?? null,
});
