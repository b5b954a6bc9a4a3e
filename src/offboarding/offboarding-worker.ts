import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { AuditTrail } from '../audit/audit-trail';
import { Database } from '../platform/database/database';
import { DatabaseConnection } from '../platform/database/database-connection';
import { Clock } from '../shared/clock';
import { LogThrottle } from '../shared/log-throttle';
import { OffboardingLimits } from './offboarding-limits';
import { type OffboardingFigures, type OffboardingReceipt, OffboardingReceipts } from './offboarding-receipts';
import type { OffboardingRow } from './persistence/offboarding.entity';
import { OffboardingRows } from './persistence/offboarding.repository';

/** Rows of one look. */
const batchRows = 50;

/**
 * Looks whether the receivers of the open off-boardings have answered, and writes the event of the end. Every replica runs
 * one. It has no lease: a second look finds the same, and one UPDATE decides who writes the event.
 */
@Injectable()
export class OffboardingWorker implements OnModuleDestroy {
  private readonly logger = new Logger('offboarding');
  private readonly unreadable = new LogThrottle();
  private poll: NodeJS.Timeout | undefined;
  private nudged: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private stopping = false;

  constructor(
    private readonly rows: OffboardingRows,
    private readonly receipts: OffboardingReceipts,
    private readonly database: Database,
    private readonly connection: DatabaseConnection,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
    private readonly limits: OffboardingLimits,
  ) {}

  /** Only the server calls it. The off-boardings that a crash has left open are looked at first. */
  start(): void {
    void this.connection.usable.then(() => {
      if (!this.stopping) this.poll = setInterval(() => void this.look(), this.limits.pollMs);
    });
  }

  /** Call it after the commit: the receivers are usually told before the next poll. */
  nudge(): void {
    if (this.poll === undefined) return;
    this.nudged ??= setTimeout(() => {
      this.nudged = undefined;
      void this.look();
    }, this.limits.nudgeMs);
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    clearInterval(this.poll);
    clearTimeout(this.nudged);
    this.poll = undefined;
    await this.looking;
  }

  /** Looks at each off-boarding that is due, once. */
  look(): Promise<void> {
    return (this.looking ??= this.settleDue().finally(() => (this.looking = undefined)));
  }

  async figures(): Promise<OffboardingFigures> {
    const { count, oldest } = await this.rows.openOnes();
    const age = oldest === null ? 0 : (this.clock.now().getTime() - oldest.getTime()) / 1000;
    return { open: count, oldestOpenSeconds: Math.max(0, age) };
  }

  private async settleDue(): Promise<void> {
    try {
      for (let rows = await this.due(); rows.length > 0; rows = rows.length < batchRows ? [] : await this.due()) {
        for (const row of rows) if (!this.stopping) await this.settle(row);
      }
    } catch (error) {
      if (this.unreadable.allows(this.clock.now()))
        this.logger.error({ err: error }, 'cannot look at the open off-boardings, trying again at the next poll');
    }
  }

  private due(): Promise<OffboardingRow[]> {
    return this.stopping ? Promise.resolve([]) : this.rows.due(this.clock.now(), batchRows);
  }

  private async settle(row: OffboardingRow): Promise<void> {
    const receipt = await this.receipts.receiptOf(row);
    const { completedAt } = receipt;
    if (completedAt === null) return this.rows.postpone(row.id, this.nextCheck(row.beganAt));
    const receivers = JSON.stringify(receipt.receivers);
    await this.database.transaction(async (tx) => {
      if (!(await this.rows.complete(tx, row.id, { completedAt, receivers }))) return;
      await this.audit.record(tx, 'USER_OFFBOARDED', { userId: row.userId, detail: detailOf(receipt) });
    });
  }

  /** A twentieth of the age, so that the time of the event is off by a few per cent at most. */
  private nextCheck(beganAt: Date): Date {
    const now = this.clock.now().getTime();
    const pause = Math.min(this.limits.checkCapMs, Math.max(this.limits.checkFloorMs, (now - beganAt.getTime()) / 20));
    return new Date(now + pause);
  }
}

function detailOf({ id, via, beganAt, completedAt, seconds, receivers, givenUp }: OffboardingReceipt) {
  return {
    offboarding: id,
    via,
    began_at: beganAt.toISOString(),
    completed_at: completedAt?.toISOString() ?? null,
    seconds,
    receivers: receivers.length,
    given_up: givenUp,
    not_offered: receivers.filter(({ status }) => status === 'not_offered').length,
  };
}
