import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, Not, type Repository } from 'typeorm';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { storable } from '../shared/time-text';
import { EventWorker } from './outbox/event-worker';
import { type EventStatus, eventStatus, fresh, OutboxEvent } from './outbox/outbox-event.entity';

/** A settled event, and its place in the order of the first sending. */
interface Candidate {
  readonly id: number;
  readonly place: number;
}

const settled: EventStatus[] = [eventStatus.sent, eventStatus.dead];

/** Sends settled events once more as new ones, for a receiver that has lost what it had accepted (ADR 0026). */
@Injectable()
export class EventReplay {
  private readonly rows: EntityRows<OutboxEvent>;

  constructor(
    @InjectRepository(OutboxEvent) rows: Repository<OutboxEvent>,
    private readonly database: Database,
    private readonly worker: EventWorker,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * The events of this time that were sent or given up, in the order in which they were first queued. The ids of replays
   * have another order, because a former replay may have covered a part of the time.
   * @returns at most `most` ids, of which the latest may be missing
   */
  async candidates(from: Date, to: Date, most: number): Promise<number[]> {
    const found: Candidate[] = [];
    for (const status of settled) {
      found.push(
        ...(await this.database.rows<Candidate>(
          `SELECT e.id AS id, COALESCE(o.id, e.id) AS place FROM event_outbox e
           LEFT JOIN event_outbox o ON o.event_id = e.replay_of
           WHERE e.status = ? AND e.created_at >= ? AND e.created_at < ?
           ORDER BY e.created_at LIMIT ${Math.trunc(most)}`,
          [status, storable(from), storable(to)],
        )),
      );
    }
    found.sort((a, b) => Number(a.place) - Number(b.place));
    return found.slice(0, most).map(({ id }) => id);
  }

  /**
   * Queues copies with new ids, and moves the payloads to them. The copies of one user are in the order of `ids`, after
   * the events of the user that wait.
   * Race: another replay, a retry, a `purge` or the erasure of the user, on any replica. The first UPDATE takes the rows,
   * so what is read after it stays until the commit. A row that another one has taken before is not copied.
   * @param ids one batch; not empty
   * @returns the number of copies. A row without a payload has none.
   */
  async copy(tx: Transaction, ids: readonly number[]): Promise<number> {
    const kept = { id: In([...ids]), payload: Not(IsNull()) };
    const replayed = { status: eventStatus.replayed };
    if ((await this.rows.update(tx, { ...kept, status: In(settled) }, replayed)) === 0) return 0;
    const rows = await this.rows.find({ ...kept, ...replayed }, {}, tx);
    await this.rows.update(tx, { id: In(rows.map(({ id }) => id)) }, { payload: null });
    const places = new Map(ids.map((id, place) => [Number(id), place]));
    rows.sort((a, b) => places.get(Number(a.id))! - places.get(Number(b.id))!);
    await this.insert(tx, rows);
    tx.afterCommit(() => this.worker.nudge());
    return rows.length;
  }

  /** The copy has the time of its event, so `purge` deletes it as early, and a later replay of this time finds it. */
  private async insert(tx: Transaction, rows: readonly OutboxEvent[]): Promise<void> {
    const now = this.clock.now();
    await tx.affected(
      `INSERT INTO event_outbox
       (event_id, type, stream, payload, status, fresh, created_at, queued_at, replay_of)
       VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
      rows.flatMap(({ eventId, type, stream, payload, replayOf, createdAt }) => {
        const id = this.random.uuid();
        const isAnonymous = stream === eventId;
        return [
          ...[id, type, isAnonymous ? id : stream, payload, eventStatus.waiting],
          ...[isAnonymous ? fresh.anonymous : fresh.known, createdAt, now, replayOf ?? eventId],
        ];
      }),
    );
  }
}
