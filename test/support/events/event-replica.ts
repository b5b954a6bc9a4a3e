import { Writable } from 'node:stream';
import { Test, type TestingModule } from '@nestjs/testing';
import { pino } from 'pino';
import { AuditModule } from '../../../src/audit/audit.module';
import { AuditTrail } from '../../../src/audit/audit-trail';
import { EventLimits, eventLimits } from '../../../src/events/event-limits';
import { EventOutbox } from '../../../src/events/event-outbox';
import { EventRows } from '../../../src/events/outbox/outbox-event.repository';
import { ReceiverLimits, receiverLimits } from '../../../src/events/receiver-limits';
import { EventsModule } from '../../../src/events/events.module';
import { loadConfig } from '../../../src/settings/app-config';
import { ConfigModule } from '../../../src/settings/config.module';
import { Database } from '../../../src/platform/database/database';
import type { Sql } from '../../../src/platform/database/sql';
import { describeError } from '../../../src/platform/logging/describe-error';
import { NestLogger } from '../../../src/platform/logging/logger';
import { PlatformModule } from '../../../src/platform/platform.module';
import { Clock } from '../../../src/shared/clock';
import { FakeClock } from '../fakes';
import { testSettings } from '../settings';

/** No polls, so that the test decides when events are sent. The time-out is longer than an answer on a busy machine. */
export const testEventLimits: EventLimits = {
  ...eventLimits,
  pollMs: 3_600_000,
  nudgeMs: 3_600_000,
  sendMs: 50_000,
  leaseMs: 60_000,
  stopMs: 200,
};

/** As `testEventLimits`, for further receivers. */
export const testReceiverLimits: ReceiverLimits = {
  ...receiverLimits,
  pollMs: 3_600_000,
  nudgeMs: 3_600_000,
  postMs: 40_000,
  sendMs: 50_000,
};

interface Options {
  readonly settings?: Record<string, string>;
  readonly clock?: FakeClock;
  readonly limits?: Partial<EventLimits>;
}

export interface EventRow {
  readonly id: number;
  readonly event_id: string;
  readonly stream: string;
  readonly type: string;
  readonly payload: string | null;
  readonly status: number;
}

/** The modules of the audit and of the events as in one replica, with their own database connections. */
export class EventReplica {
  private constructor(
    private readonly module: TestingModule,
    readonly clock: FakeClock,
    readonly logLines: string[],
  ) {}

  static async start(databaseUrl: string, { settings, limits, clock = new FakeClock() }: Options = {}) {
    const config = loadConfig({ ...testSettings, DATABASE_URL: databaseUrl, MIGRATE_ON_START: 'true', ...settings });
    const lines: string[] = [];
    const sink = new Writable({ write: (chunk: Buffer, _, done) => (lines.push(chunk.toString()), done()) });
    const logger = new NestLogger(pino({ base: undefined, serializers: { err: describeError } }, sink));
    const imports = [ConfigModule.with(config), PlatformModule, AuditModule, EventsModule];
    const module = await Test.createTestingModule({ imports })
      .setLogger(logger)
      .overrideProvider(Clock)
      .useValue(clock)
      .overrideProvider(EventLimits)
      .useValue({ ...testEventLimits, ...limits })
      .overrideProvider(ReceiverLimits)
      .useValue(testReceiverLimits)
      .compile();
    await module.init();
    module.get(EventOutbox).start();
    return new EventReplica(module, clock, lines);
  }

  stop(): Promise<void> {
    return this.module.close();
  }

  get<T>(provider: abstract new (...args: never[]) => T): T {
    return this.module.get(provider, { strict: false });
  }

  get database(): Database {
    return this.module.get<Database>(Database, { strict: false });
  }

  /** Writes one audit row, with its event, in the transaction or alone. `n` is in the detail. */
  record(userId: string | undefined, n: number, sql: Sql = this.database): Promise<void> {
    return this.get(AuditTrail).record(sql, 'USER_UNLOCKED', { ...(userId && { userId }), detail: { n } });
  }

  /** Queues an event by one statement. On SQLite, two replicas of one process cannot have transactions in parallel. */
  async queue(userId: string, n: number): Promise<void> {
    const data = { user_id: userId, detail: { n } };
    const event = { type: 'user.unlocked', timestamp: this.clock.now().toISOString(), data };
    await this.get(EventRows).insert(this.database, event, { userId, actorId: null });
  }

  sendDue(): Promise<void> {
    return this.get(EventOutbox).sendDue();
  }

  /** Moves the clock in steps, and sends what is due after each one. */
  async sendOverTime(seconds: number, step = 1): Promise<void> {
    for (let passed = 0; passed < seconds; passed += step) {
      this.clock.advanceSeconds(step);
      await this.sendDue();
    }
  }

  rows(): Promise<EventRow[]> {
    return this.database.rows<EventRow>('SELECT * FROM event_outbox ORDER BY id');
  }

  async count(table: 'event_streams' | 'event_outbox' | 'audit_logs' | 'login_logs'): Promise<number> {
    return Number((await this.database.row<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table}`))?.n);
  }
}
