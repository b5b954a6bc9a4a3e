import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, MoreThan, Not, type Repository } from 'typeorm';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import { type Sql, timeOf } from '../../platform/database/sql';
import { type Lease, LeasedRows } from '../../platform/outbox/leased-rows';
import { deleteBatch } from '../../platform/outbox/settled-rows';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { MailLimits } from '../mail-limits';
import { type FinalStatus, type MailStatus, mailStatus } from '../mail-status';
import { mailUrgency } from './mail-urgency';
import { OutboxMail } from './outbox-mail.entity';

export type NewMail = Pick<OutboxMail, 'kind' | 'urgency' | 'expires'> & {
  readonly payload: string;
  readonly userId: string;
};

interface Leasable extends Pick<OutboxMail, 'id' | 'kind' | 'attempts'> {
  readonly payload: string;
  readonly expires: unknown;
  readonly created_at: unknown;
  readonly user_id: string | null;
}

/** A mail that belongs to this process until its lease ends. */
export interface ClaimedMail extends Leasable, Lease {
  readonly expires: Date;
  readonly createdAt: Date;
}

/** A mail without its content and its owner. */
export type ListedMail = Pick<
  OutboxMail,
  'id' | 'kind' | 'status' | 'attempts' | 'createdAt' | 'nextAttemptAt' | 'expires'
>;

/** Where a list goes on: the time in milliseconds and the id of its last mail. */
export type MailPlace = readonly [createdAt: number, id: string];

/** After so many claims that left no place for other mails, one claim takes the longest due, or a flood of codes would stop all others. */
const urgentInARow = 3;

const table = {
  name: 'mail_outbox',
  key: 'id',
  part: 'urgency',
  columns: ['id', 'kind', 'payload', 'attempts', 'expires', 'created_at', 'user_id'],
} as const;

/** The table `mail_outbox`. Any number of processes send from it; each mail has one owner at a time (ADR 0007). */
@Injectable()
export class OutboxRows {
  private readonly rows: EntityRows<OutboxMail>;
  private readonly leased: LeasedRows<Leasable>;
  /** Claims in a row that returned only urgent mails. */
  private onlyUrgent = 0;

  constructor(
    @InjectRepository(OutboxMail) rows: Repository<OutboxMail>,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly random: Random,
    limits: MailLimits,
  ) {
    this.rows = new EntityRows(rows, database);
    this.leased = new LeasedRows(table, limits.leaseMs, { database, clock, random });
  }

  /** Inserts the row in the caller's transaction: the mail exists exactly when the change that it reports commits. */
  async insert(tx: Transaction, mail: NewMail): Promise<void> {
    const now = this.clock.now();
    const due = { status: mailStatus.waiting, attempts: 0, nextAttemptAt: now, createdAt: now };
    await this.rows.insert(tx, { id: this.random.uuid(), ...mail, ...due });
  }

  /** Claims up to `wanted` due mails: urgent ones, and then the longest due (ADR 0007). */
  async claim(wanted: number): Promise<ClaimedMail[]> {
    const urgentFirst = this.onlyUrgent < urgentInARow;
    const mails = urgentFirst ? await this.leased.claim(mailStatus.waiting, wanted, mailUrgency.urgent) : [];
    this.onlyUrgent = mails.length === wanted ? this.onlyUrgent + 1 : 0;
    if (mails.length < wanted) mails.push(...(await this.leased.claim(mailStatus.waiting, wanted - mails.length)));
    return mails.map((mail) => ({ ...mail, expires: timeOf(mail.expires), createdAt: timeOf(mail.created_at) }));
  }

  /**
   * Sets the final status and deletes the payload, except for a mail that is given up: an administrator may retry it until
   * it expires.
   * @returns false if another process has claimed the mail
   */
  settle(mail: ClaimedMail, status: FinalStatus): Promise<boolean> {
    if (status === mailStatus.dead) return this.leased.end(mail, mailStatus.waiting, { status });
    const sent_at = status === mailStatus.sent ? this.clock.now() : null;
    return this.leased.end(mail, mailStatus.waiting, { status, payload: null, sent_at });
  }

  /**
   * Gives the mail back: any process may claim it from `at` on.
   * @param charged false when the mail itself was not at fault, so that an outage does not use up its attempts
   */
  giveBack(mail: ClaimedMail, at: Date, charged: boolean): Promise<boolean> {
    const attempts = mail.attempts - (charged ? 0 : 1);
    return this.leased.end(mail, mailStatus.waiting, { next_attempt_at: at, attempts });
  }

  /** The newest mails first, from an index and without their content. */
  async newest(status: MailStatus | undefined, most: number, after: MailPlace | null = null): Promise<ListedMail[]> {
    const only = status === undefined ? '' : 'status = ? AND';
    const place = after === null ? '' : 'AND created_at <= ? AND (created_at < ? OR id < ?)';
    const [at, id] = [new Date(after?.[0] ?? 0), after?.[1] ?? ''];
    const rows = await this.database.rows<Record<keyof ListedMail, unknown>>(
      `SELECT id, kind, status, attempts, created_at AS createdAt, next_attempt_at AS nextAttemptAt, expires
       FROM mail_outbox
       WHERE ${only} created_at > ? ${place} ORDER BY created_at DESC, id DESC LIMIT ${Math.trunc(most)}`,
      [...(status === undefined ? [] : [status]), new Date(0), ...(after === null ? [] : [at, at, id])],
    );
    return rows.map((row) => ({
      ...(row as ListedMail),
      createdAt: timeOf(row.createdAt),
      nextAttemptAt: timeOf(row.nextAttemptAt),
      expires: timeOf(row.expires),
    }));
  }

  async statusOf(tx: Transaction, id: string): Promise<MailStatus | undefined> {
    return (await this.rows.findOne({ id }, tx))?.status;
  }

  async ownerOf(tx: Transaction, id: string): Promise<string | null> {
    return (await this.rows.findOne({ id }, tx))?.userId ?? null;
  }

  /**
   * Queues a mail that was given up once more, as a new one: without attempts, due at once.
   * Race: two retries, on any replica. The first UPDATE wins; the other one finds a waiting mail. A worker whose lease has
   * ended cannot settle the mail, because `claimed_by` is empty or that of another worker. `purgeSettled` deletes no mail
   * that waits.
   */
  requeue(tx: Transaction, id: string): Promise<boolean> {
    const now = this.clock.now();
    const retriable = { id, status: mailStatus.dead, payload: Not(IsNull()), expires: MoreThan(now) };
    const waiting = { status: mailStatus.waiting, attempts: 0, nextAttemptAt: now };
    return this.rows.won(tx, retriable, { ...waiting, claimedBy: null, claimedUntil: null });
  }

  /** How many mails have this status, and when the oldest of them was queued. */
  async counts(): Promise<{ status: MailStatus; count: number; oldest: Date }[]> {
    const rows = await this.database.rows<{ status: MailStatus; count: number; oldest: unknown }>(
      `SELECT status, COUNT(*) AS count, MIN(created_at) AS oldest FROM mail_outbox
       WHERE status IN (?, ?) GROUP BY status`,
      [mailStatus.waiting, mailStatus.dead],
    );
    return rows.map(({ status, count, oldest }) => ({ status, count: Number(count), oldest: timeOf(oldest) }));
  }

  /**
   * Deletes one batch of mails that have a final status and were queued before `before`.
   * @returns the number of deleted mails; fewer than `limit` when none are left
   */
  purgeSettled(before: Date, limit: number): Promise<number> {
    const settled = { where: 'created_at < ? AND status <> ?', values: [before, mailStatus.waiting] };
    return deleteBatch(this.database, table.name, settled, limit);
  }

  /**
   * Ends the mails of a deleted user that are not sent, and deletes their content.
   * Races with a worker that claims or settles such a mail, and with a retry by an administrator. Each of them is one
   * UPDATE that names the status it leaves. If this UPDATE comes first, theirs match no row. If a retry comes first, this
   * UPDATE finds the waiting mail. A worker that has read the content already sends the mail, and cannot settle it.
   */
  async forgetUser(sql: Sql, userId: string): Promise<void> {
    await sql.affected(
      `UPDATE mail_outbox SET status = ?, payload = NULL, claimed_by = NULL, claimed_until = NULL
       WHERE user_id = ? AND status IN (?, ?)`,
      [mailStatus.expired, userId, mailStatus.waiting, mailStatus.dead],
    );
  }

  /**
   * Deletes the content of one batch of mails that were given up and have expired: nobody can retry them any more.
   * Race: a retry of such a mail matches no row, because it also compares `expires`.
   */
  async forgetExpired(limit: number): Promise<number> {
    const now = this.clock.now();
    const rows = await this.database.rows<{ id: string }>(
      `SELECT id FROM mail_outbox WHERE status = ? AND payload IS NOT NULL AND expires <= ? LIMIT ${Math.trunc(limit)}`,
      [mailStatus.dead, now],
    );
    if (rows.length === 0) return 0;
    const expired = { id: In(rows.map(({ id }) => id)), status: mailStatus.dead };
    return this.rows.update(this.database, expired, { payload: null });
  }
}
