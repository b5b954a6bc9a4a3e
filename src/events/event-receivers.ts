import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Equal, MoreThan, type Repository } from 'typeorm';
import { DataKeyMismatch } from '../platform/crypto/key-ring';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { EventReceiver, type ReceiverFormat, receiverStatus } from './receivers/event-receiver.entity';
import { EventReceiverRows } from './receivers/event-receivers.repository';
import { ReceiverEvents } from './receivers/receiver-events.repository';
import { ReceiverSecrets } from './receivers/receiver-secrets';
import { ReceiverWorker } from './receivers/receiver-worker';

export { type EventReceiver, receiverFormats, type ReceiverFormat } from './receivers/event-receiver.entity';
export { sealedReceiverColumns } from './receivers/receiver-secrets';
export { isTypeFilter } from './receivers/receiver-filter';

/** What an administrator sets of a receiver. */
export interface ReceiverValues {
  readonly url: string;
  readonly format: ReceiverFormat;
  readonly types: string[];
  readonly tenants: string[];
  readonly audience: string | null;
  readonly enabled: boolean;
}

export interface NewReceiver {
  readonly id: string;
  readonly secret: string;
  /** Where it begins to read. */
  readonly position: number;
}

/** A receiver and how far it is behind. */
export interface ReceiverState {
  readonly receiver: EventReceiver;
  /** Events after its place, also those that do not concern it. At most 100,000. */
  readonly waiting: number;
  /** 0 when nothing waits. */
  readonly oldestWaitingSeconds: number;
}

/** The receivers for administrators: their rows, and how far each of them is (ADR 0047). */
@Injectable()
export class EventReceivers {
  private readonly rows: EntityRows<EventReceiver>;

  constructor(
    @InjectRepository(EventReceiver) rows: Repository<EventReceiver>,
    private readonly receivers: EventReceiverRows,
    private readonly events: ReceiverEvents,
    private readonly secrets: ReceiverSecrets,
    private readonly worker: ReceiverWorker,
    private readonly clock: Clock,
    private readonly random: Random,
    database: Database,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** In the order of their ids. There are at most 20. */
  async list(): Promise<ReceiverState[]> {
    const states: ReceiverState[] = [];
    for (const receiver of await this.receivers.list()) states.push(await this.stateOf(receiver));
    return states;
  }

  async find(id: string): Promise<ReceiverState | undefined> {
    const receiver = await this.receivers.find(id);
    return receiver === null ? undefined : this.stateOf(receiver);
  }

  async stateOf(receiver: EventReceiver): Promise<ReceiverState> {
    const { count, oldest } = await this.events.behind(receiver.position);
    const age = oldest === null ? 0 : (this.clock.now().getTime() - oldest.getTime()) / 1000;
    return { receiver, waiting: count, oldestWaitingSeconds: Math.max(0, age) };
  }

  /** As the statements of the transaction left the row. */
  read(tx: Transaction, id: string): Promise<EventReceiver | null> {
    return this.rows.findOne({ id: Equal(id) }, tx);
  }

  count(tx: Transaction): Promise<number> {
    return this.rows.count({ id: MoreThan('') }, tx);
  }

  /** Where a new receiver begins: it gets the events from now on. */
  newest(): Promise<number> {
    return this.events.last();
  }

  /** Race: two creations with one id. The primary key decides. @returns false when there is a receiver with this id */
  insert(tx: Transaction, values: ReceiverValues & NewReceiver): Promise<boolean> {
    const { enabled, secret, ...rest } = values;
    const now = this.clock.now();
    return this.rows.added(tx, {
      ...{ ...rest, secret: this.secrets.seal(secret), status: statusOf(enabled) },
      // A receiver that was deleted and made again must not give its replays the ids of replays before.
      ...{ version: 0, replayUntil: 0, replays: this.random.bytes(3).readUIntBE(0, 3) },
      ...{ attempts: 0, setAside: 0, nextAttemptAt: now },
      ...{ createdAt: now, changedAt: now },
    });
  }

  /**
   * Sets the given values, and no others. A receiver that waits after a failure is due at once.
   * Races: two changes of different values both last; of one value the later one lasts. A sender that has read the row before
   * finds another `version` and stops.
   * @returns false when there is no such receiver (any more)
   */
  change(tx: Transaction, id: string, { enabled, ...values }: Partial<ReceiverValues>): Promise<boolean> {
    const status = enabled === undefined ? {} : { status: statusOf(enabled) };
    const now = this.clock.now();
    tx.afterCommit(() => this.worker.nudge());
    return this.rows.won(tx, { id }, { ...values, ...status, ...this.next(now) });
  }

  /**
   * Races: two rotations that read one secret. The first UPDATE wins, and the second one matches no row: otherwise the secret that
   * the first caller was shown would already be the former one.
   * @param keepUntil null: the former secret signs no longer
   */
  rotateSecret(tx: Transaction, read: EventReceiver, secret: string, keepUntil: Date | null): Promise<boolean> {
    const former = keepUntil === null ? null : read.secret;
    const set = { secret: this.secrets.seal(secret), oldSecret: former, oldSecretExpires: keepUntil };
    return this.rows.won(tx, { id: read.id, secret: read.secret }, { ...set, ...this.next(this.clock.now()) });
  }

  /**
   * Sends what comes after a place once more, with new ids. Events that were not sent yet keep theirs.
   * Race: the sender, or another replay. The UPDATE names the `version` that was read, so one of two replays wins, and the
   * sender stops before its next write.
   * @returns false when another change was faster
   */
  replay(tx: Transaction, read: EventReceiver, after: number): Promise<boolean> {
    const position = Math.min(after, read.position);
    const replayUntil = Math.max(read.position, read.replayUntil);
    const again = { position, replayUntil, ...this.rows.incremented('replays') };
    tx.afterCommit(() => this.worker.nudge());
    return this.rows.won(tx, { id: read.id, version: read.version }, { ...again, ...this.next(this.clock.now()) });
  }

  /** Whether this is the current secret. */
  async hasSecret(id: string, secret: string): Promise<boolean> {
    const receiver = await this.receivers.find(id);
    try {
      return receiver !== null && this.secrets.open(receiver, this.clock.now())[0] === secret;
    } catch (error) {
      if (!(error instanceof DataKeyMismatch)) throw error;
      // A lost key of DATA_ENCRYPTION_KEY: the secret is written again.
      return false;
    }
  }

  /** The place before the first event of this time or later; that of the newest event when there is none. */
  async placeBefore(time: Date): Promise<number> {
    const first = await this.events.firstSince(time);
    return first === undefined ? this.events.last() : first - 1;
  }

  /** The place before an event, by the id of its first sending. Undefined when there is no such event. */
  async placeBeforeEvent(eventId: string): Promise<number | undefined> {
    const event = await this.events.find(eventId);
    return event === null || event.place === null ? undefined : event.place - 1;
  }

  /** Race: two deletions. The first one wins, and the second one gets false. */
  async remove(tx: Transaction, id: string): Promise<boolean> {
    return (await this.rows.remove(tx, { id })) === 1;
  }

  private next(now: Date) {
    return { ...this.rows.incremented('version'), nextAttemptAt: now, failingSince: null, changedAt: now };
  }
}

const statusOf = (enabled: boolean) => (enabled ? receiverStatus.on : receiverStatus.paused);
