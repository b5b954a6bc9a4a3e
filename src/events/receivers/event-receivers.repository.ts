import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, MoreThan, type Repository } from 'typeorm';
import { Database } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import { type Lease, LeasedRows } from '../../platform/outbox/leased-rows';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { ReceiverLimits } from '../receiver-limits';
import { EventReceiver, receiverStatus } from './event-receiver.entity';

/** What a claim reads, before the sender reads the whole row. */
type Leasable = Pick<EventReceiver, 'id' | 'attempts'>;
/** `last`: the last place at the claim. All events up to it can be read. */
export type ClaimedReceiver = Leasable & Lease & { readonly last: number };

export interface FailedTurn {
  readonly version: number;
  readonly again: Date;
  /** Of the first failure after the last success. */
  readonly since: Date;
  readonly reason: string;
}

const table = { name: 'event_receivers', key: 'id', part: 'id', columns: ['id', 'attempts'] } as const;

/** How far a receiver has got: written by the sender that has claimed it, on one replica at a time (ADR 0047). */
@Injectable()
export class EventReceiverRows {
  private readonly rows: EntityRows<EventReceiver>;
  private readonly leased: LeasedRows<Leasable>;

  constructor(
    @InjectRepository(EventReceiver) rows: Repository<EventReceiver>,
    private readonly database: Database,
    private readonly clock: Clock,
    random: Random,
    limits: ReceiverLimits,
  ) {
    this.rows = new EntityRows(rows, database);
    this.leased = new LeasedRows(table, limits.leaseMs, { database, clock, random });
  }

  find(id: string): Promise<EventReceiver | null> {
    return this.rows.findOne({ id });
  }

  /** In the order of their ids. */
  list(): Promise<EventReceiver[]> {
    return this.rows.find({ id: MoreThan('') }, { order: { id: 'ASC' } });
  }

  /** Claims the receivers that have something to read and may be tried now. */
  async claim(last: number, wanted: number): Promise<ClaimedReceiver[]> {
    const [now, claimed]: [Date, ClaimedReceiver[]] = [this.clock.now(), []];
    const behind = await this.rows.find({ status: receiverStatus.on, position: LessThan(last) });
    const due = behind.filter(({ nextAttemptAt, claimedUntil }) => nextAttemptAt <= now && !(claimedUntil! > now));
    for (const { id } of due.slice(0, wanted)) {
      claimed.push(...(await this.leased.claim(receiverStatus.on, 1, id)).map((row) => ({ ...row, last })));
    }
    return claimed;
  }

  /**
   * The receiver has got everything up to `position`.
   * Races: a process whose lease has ended, which must not move what the new owner has read; and a change, pause, replay or
   * deletion by an administrator, which has changed `version` or deleted the row. The former sender changes nothing,
   * gets false and stops. What it has sent last is then sent again.
   */
  advance({ id, claim }: ClaimedReceiver, version: number, position: number, delivered: boolean): Promise<boolean> {
    const good = { attempts: 0, lastSuccessAt: this.clock.now(), failingSince: null };
    return this.rows.won(this.database, { id, claimedBy: claim, version }, { position, ...(delivered ? good : {}) });
  }

  /** Ends the lease after the last event. Race: as for `advance`. @returns false when another process has claimed it */
  release({ id, claim }: ClaimedReceiver): Promise<boolean> {
    return this.rows.won(this.database, { id, claimedBy: claim }, { claimedBy: null, claimedUntil: null });
  }

  /**
   * Ends the lease after a failed attempt: this receiver waits until `again`, the others do not.
   * Race: as for `advance`. After a change by an administrator the caller only releases the receiver, which is due at once.
   */
  postpone({ id, claim }: ClaimedReceiver, { version, again, since, reason }: FailedTurn): Promise<boolean> {
    const failed = { lastError: reason.slice(0, 64), lastErrorAt: this.clock.now(), failingSince: since };
    const free = { claimedBy: null, claimedUntil: null, nextAttemptAt: again };
    return this.rows.won(this.database, { id, claimedBy: claim, version }, { ...failed, ...free });
  }

  /** The receiver does not take this event, and the next ones are not held up any longer. Race: as for `advance`. */
  setAside(
    { id, claim }: ClaimedReceiver,
    version: number,
    event: { readonly place: number; readonly eventId: string },
    failure: string,
  ): Promise<boolean> {
    const aside = { position: event.place, lastSetAside: event.eventId, ...this.rows.incremented('setAside') };
    const failed = { lastError: failure.slice(0, 64), lastErrorAt: this.clock.now(), failingSince: null };
    return this.rows.won(this.database, { id, claimedBy: claim, version }, { ...aside, ...failed });
  }
}
