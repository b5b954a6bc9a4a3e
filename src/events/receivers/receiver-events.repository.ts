import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, MoreThan, type Repository } from 'typeorm';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import type { Sql } from '../../platform/database/sql';
import { filledUp } from '../../platform/database/statement-keys';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { tenantsOfUsers } from '../../users/tenants-of-users';
import { auditTypes } from '../event-types';
import type { ServiceEvent } from '../outbox/event';
import { ReceiverEvent, ReceiverPlaces } from './receiver-event.entity';

/** Events of one transaction that gives places. */
const batchRows = 200;
/** Rows of one UPDATE: some milliseconds. */
const forgottenRows = 1000;
const mostCounted = 100_000;
const theRow = 1;

/** The table `receiver_events`: each event once, in the order in which all receivers read them (ADR 0047). */
@Injectable()
export class ReceiverEvents {
  private readonly rows: EntityRows<ReceiverEvent>;
  private readonly places: EntityRows<ReceiverPlaces>;

  constructor(
    @InjectRepository(ReceiverEvent) rows: Repository<ReceiverEvent>,
    @InjectRepository(ReceiverPlaces) places: Repository<ReceiverPlaces>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    this.rows = new EntityRows(rows, database);
    this.places = new EntityRows(places, database);
  }

  /** One statement in the transaction of the log row, however many receivers there are. */
  async insert(sql: Sql, event: ServiceEvent, userId: string | null): Promise<void> {
    await sql.affected(
      'INSERT INTO receiver_events (event_id, type, user_id, payload, created_at) VALUES (?, ?, ?, ?, ?)',
      [this.random.uuid(), event.type, userId, JSON.stringify(event), this.clock.now()],
    );
  }

  /** Gives a place to each committed event that has none. */
  async order(): Promise<void> {
    while ((await this.orderSome()) === batchRows);
  }

  /**
   * The ids do not have the order of the commits: a transaction may commit after another one that began later. A receiver
   * that has read up to the later id would miss the earlier one. So places are given to rows that are committed.
   * Races: other replicas that give places to the same rows. The UPDATE of `receiver_places` is first and takes its row, so
   * one of them wins. The other one waits for the commit, finds another `last`, and changes nothing: places become
   * visible in their order. A row that the winner has numbered after it was read here keeps its place (`IS NULL`).
   * @returns how many events were looked at
   */
  private async orderSome(): Promise<number> {
    const order = { order: { id: 'ASC' }, limit: batchRows } as const;
    const events = await this.rows.find({ place: IsNull() }, order);
    if (events.length === 0) return 0;
    const users = new Set(events.flatMap(({ userId }) => (userId === null ? [] : [userId])));
    const tenants = await tenantsOfUsers(this.database, [...users]);
    const last = await this.last();
    await this.database.transaction(async (tx) => {
      if (!(await this.places.won(tx, { id: theRow, last }, { last: last + events.length }))) return;
      for (const [index, { id, userId }] of events.entries()) {
        const tenantId = userId === null ? null : (tenants.get(userId) ?? null);
        const [unplaced, place] = [{ id, place: IsNull() }, last + index + 1];
        if (await this.rows.won(tx, { ...unplaced, tenantId: IsNull() }, { place, tenantId })) continue;
        await this.rows.won(tx, unplaced, { place });
      }
    });
    return events.length;
  }

  /**
   * The user moves to another tenant. What happened before belongs to the former one, also where it has no place yet.
   * Race: a replica that gives places to these events. It has read the tenant before the move, or it finds the one that is written
   * here, which it leaves. The events are read without locks and written one by one: an UPDATE of all that have no place would
   * wait for each transaction that has written an event of anybody.
   */
  async keepTenant(tx: Transaction, userId: string, tenantId: string): Promise<void> {
    const unplaced = { place: IsNull(), tenantId: IsNull() };
    for (const { id } of await this.rows.find({ userId, ...unplaced }, {}, tx)) {
      await this.rows.won(tx, { id, ...unplaced }, { tenantId });
    }
  }

  /** The last place that was given. Race: two replicas that make the row. The primary key decides. */
  async last(): Promise<number> {
    const found = await this.places.findOne({ id: theRow });
    if (found === null) await this.places.added(this.database, { id: theRow, last: 0 });
    return found?.last ?? 0;
  }

  /** The next events after a place. */
  after(place: number, limit: number): Promise<ReceiverEvent[]> {
    return this.rows.find({ place: MoreThan(place) }, { order: { place: 'ASC' }, limit });
  }

  find(eventId: string): Promise<ReceiverEvent | null> {
    return this.rows.findOne({ eventId });
  }

  /** The smallest place of an event of this time or later, or undefined when there is none. */
  async firstSince(time: Date): Promise<number | undefined> {
    const row = await this.database.row<{ place: number | null }>(
      'SELECT MIN(place) AS place FROM receiver_events WHERE created_at >= ?',
      [time],
    );
    return row?.place === null || row === undefined ? undefined : Number(row.place);
  }

  /** How many events come after a place, at most 100,000, and the time of the first one. */
  async behind(place: number): Promise<{ readonly count: number; readonly oldest: Date | null }> {
    // Reads the index on the place only: 100,000 rows of each of 20 receivers would be seconds of work for each scrape of the metrics.
    const row = await this.database.row<{ count: number; first: unknown }>(
      `SELECT COUNT(*) AS count, MIN(place) AS first FROM
       (SELECT place FROM receiver_events WHERE place > ? ORDER BY place LIMIT ${mostCounted}) AS next`,
      [place],
    );
    const count = Number(row?.count ?? 0);
    const first = count === 0 ? null : await this.rows.findOne({ place: Number(row?.first) });
    return { count, oldest: first?.createdAt ?? null };
  }

  /**
   * Deletes the payloads of the events of a deleted user, in batches that commit alone. A receiver that has not got them
   * yet gets `user.deleted` alone, which names nobody.
   * Race: a sender that has read the payload a moment before still sends it. A row that is inserted meanwhile is missed,
   * so `purge` calls this once more an hour later.
   */
  async forgetUser(userId: string): Promise<void> {
    for (let ids = await this.known(userId, 0); ids.length > 0; ids = await this.known(userId, ids.at(-1)!)) {
      const keys = filledUp(ids);
      await this.database.affected(
        `UPDATE receiver_events SET payload = NULL WHERE id IN (${keys.map(() => '?').join(', ')})`,
        keys,
      );
    }
  }

  /** Those of the next batch: what was emptied before is not read again, also where a user has a million events. */
  private async known(userId: string, after: number): Promise<number[]> {
    const rows = await this.database.rows<{ id: number }>(
      `SELECT id FROM receiver_events WHERE user_id = ? AND id > ? AND payload IS NOT NULL AND type <> ?
       ORDER BY id LIMIT ${forgottenRows}`,
      [userId, after, auditTypes.USER_DELETED],
    );
    return rows.map(({ id }) => Number(id));
  }
}
