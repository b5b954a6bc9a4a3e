import { Injectable, Logger } from '@nestjs/common';
import { EventSettings } from '../../audit/event-settings';
import { retryAt } from '../../platform/outbox/back-off';
import { Clock } from '../../shared/clock';
import { LogThrottle } from '../../shared/log-throttle';
import { Random } from '../../shared/random';
import { ReceiverLimits } from '../receiver-limits';
import type { EventReceiver } from './event-receiver.entity';
import { type ClaimedReceiver, EventReceiverRows, type FailedTurn } from './event-receivers.repository';
import { ReceiverEvents } from './receiver-events.repository';
import type { ReceiverEvent } from './receiver-event.entity';
import { kindOf, type PostFailure, ReceiverPost } from './receiver-post';
import { wants } from './receiver-filter';

/**
 * `idle`: nothing waits. `more`: the time of this turn is over. `lost`: an administrator has changed the receiver, or
 * another process has it.
 */
export type TurnOutcome = { readonly kind: 'idle' | 'more' | 'lost' } | ({ readonly kind: 'failed' } & FailedTurn);

interface Turn {
  readonly claimed: ClaimedReceiver;
  readonly receiver: EventReceiver;
  readonly signal: AbortSignal;
}

const idle = { kind: 'idle' } as const;
/** The events wait: `OIDC` may be off for a moment only, or on this replica only. */
const keyless: PostFailure = { reason: 'OIDC is off', kind: 'unreachable' };
const never = new Date('9999-12-31T00:00:00Z');

/** Sends a receiver its next events, one after the other, until nothing waits, one fails, or the time of the turn is over. */
@Injectable()
export class ReceiverTurn {
  private readonly logger = new Logger('events');
  private readonly outages = new Map<string, LogThrottle>();
  /** Receivers of which the log says that they are away. */
  private readonly away = new Set<string>();

  constructor(
    private readonly receivers: EventReceiverRows,
    private readonly events: ReceiverEvents,
    private readonly sender: ReceiverPost,
    private readonly settings: EventSettings,
    private readonly limits: ReceiverLimits,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  async make(claimed: ClaimedReceiver, signal: AbortSignal): Promise<TurnOutcome> {
    const receiver = await this.receivers.find(claimed.id);
    if (receiver === null) return { kind: 'lost' };
    const turn = { claimed, receiver, signal };
    for (let position = receiver.position; ;) {
      const events = await this.events.after(position, this.limits.batch);
      // Events that `purge` has deleted leave places without a row.
      if (events.length === 0) return this.reached(turn, position < claimed.last ? claimed.last : undefined, idle);
      const ended = await this.sendSome(turn, events);
      if (ended !== undefined) return ended;
      position = events.at(-1)!.place!;
    }
  }

  /** @returns undefined when everything was sent */
  private async sendSome(turn: Turn, events: readonly ReceiverEvent[]): Promise<TurnOutcome | undefined> {
    const { claimed, receiver, signal } = turn;
    let passed: number | undefined;
    for (const event of events) {
      if (this.isOver(turn)) return this.reached(turn, passed, { kind: 'more' });
      const wanted = wants(receiver, event);
      const message = wanted ? this.sender.message(receiver, event) : undefined;
      const lacksKey = wanted && this.sender.lacksKey(receiver);
      if (message === undefined && !lacksKey) {
        passed = event.place!;
        continue;
      }
      const failure = message === undefined ? keyless : await this.sender.post(receiver, message, signal);
      if (failure !== undefined) {
        const outcome = await this.judge(turn, event, failure);
        if (outcome === undefined) continue;
        return this.reached(turn, passed, outcome);
      }
      if (!(await this.receivers.advance(claimed, receiver.version, event.place!, true))) return { kind: 'lost' };
      this.recovered(receiver);
      passed = undefined;
    }
    return this.reached(turn, passed, undefined);
  }

  /** What did not concern the receiver is passed with one write. */
  private async reached<T>({ claimed, receiver }: Turn, passed: number | undefined, outcome: T) {
    if (passed === undefined) return outcome;
    const moved = await this.receivers.advance(claimed, receiver.version, passed, false);
    return moved ? outcome : ({ kind: 'lost' } as const);
  }

  private isOver({ claimed, signal }: Turn): boolean {
    return signal.aborted || this.clock.now().getTime() - claimed.claimedAt.getTime() >= this.limits.turnMs;
  }

  /**
   * A receiver that cannot be reached loses nothing until `purge` deletes the events. One that refuses an event holds up the
   * next ones for five minutes, one that answers with another error for EVENTS_GIVE_UP_HOURS. The time of an outage before does
   * not count: an event is set aside only when the attempt before failed in the same way.
   * @returns undefined when the event was set aside
   */
  private async judge(turn: Turn, event: ReceiverEvent, failure: PostFailure): Promise<TurnOutcome | undefined> {
    const { claimed, receiver } = turn;
    const now = this.clock.now();
    const since = receiver.failingSince ?? now;
    const told = { receiver: receiver.id, event: event.eventId, type: event.type, failure: failure.reason };
    const patience = {
      refused: this.limits.refusedMs,
      answered: this.settings.giveUpHours * 3_600_000,
      unreachable: Infinity,
    };
    const former = receiver.failingSince === null ? undefined : kindOf(receiver.lastError ?? '');
    const repeated = failure.kind === 'answered' ? former !== 'unreachable' : former === failure.kind;
    if (repeated && !turn.signal.aborted && now.getTime() - since.getTime() >= patience[failure.kind]) {
      const aside = { place: event.place!, eventId: event.eventId };
      if (!(await this.receivers.setAside(claimed, receiver.version, aside, failure.reason))) return { kind: 'lost' };
      this.logger.error(told, 'a receiver did not take an event, which is set aside: the next ones are sent');
      receiver.failingSince = null;
      return undefined;
    }
    if (this.throttleOf(receiver.id).allows(now)) {
      this.away.add(receiver.id);
      this.logger.warn(told, 'a receiver did not accept an event, its events wait and are tried again');
    }
    const again = retryAt({ createdAt: since, expires: never }, now, this.limits.retryCapMs, this.random);
    return { kind: 'failed', version: receiver.version, again, since, reason: failure.reason };
  }

  private throttleOf(id: string): LogThrottle {
    const throttle = this.outages.get(id) ?? new LogThrottle();
    this.outages.set(id, throttle);
    return throttle;
  }

  private recovered(receiver: EventReceiver): void {
    receiver.failingSince = null;
    if (!this.away.delete(receiver.id)) return;
    this.outages.delete(receiver.id);
    this.logger.log({ receiver: receiver.id }, 'a receiver accepts events again, those that wait are sent');
  }
}
