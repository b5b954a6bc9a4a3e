import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Test, type TestingModule } from '@nestjs/testing';
import { pino } from 'pino';
import { MailLimits, mailLimits } from '../../../src/mail/mail-limits';
import { MailModule } from '../../../src/mail/mail.module';
import { MailOutbox } from '../../../src/mail/mail-outbox';
import { Mailer, type OtpMail, type ResetLinkMail } from '../../../src/mail/mailer';
import { loadConfig } from '../../../src/settings/app-config';
import { ConfigModule } from '../../../src/settings/config.module';
import { ServiceSettings } from '../../../src/platform/config/service-settings';
import { Database } from '../../../src/platform/database/database';
import { describeError } from '../../../src/platform/logging/describe-error';
import { NestLogger } from '../../../src/platform/logging/logger';
import { PlatformModule } from '../../../src/platform/platform.module';
import { changeType } from '../../../src/shared/change-type';
import { Clock } from '../../../src/shared/clock';
import { FakeClock } from '../fakes';
import { testSettings } from '../settings';

/**
 * Limits for tests. There are no automatic polls, so that the test decides when mails are sent. The time-outs are
 * longer than a mail server on a busy machine needs for an answer.
 */
export const testLimits: MailLimits = {
  ...mailLimits,
  pollMs: 3_600_000,
  nudgeMs: 3_600_000,
  connectMs: 50_000,
  greetingMs: 50_000,
  socketMs: 50_000,
  sendMs: 50_000,
  stopMs: 200,
};

/** Only for a mail server that never answers. On a busy machine, an answer can take longer than these time-outs. */
export const shortTimeouts = { greetingMs: 300, socketMs: 300 } as const;

interface Options {
  readonly settings?: Record<string, string>;
  readonly clock?: FakeClock;
  readonly limits?: Partial<MailLimits>;
}

/** The mail module as in one replica: with its own database connections and its own worker. */
export class MailReplica {
  private constructor(
    private readonly module: TestingModule,
    readonly clock: FakeClock,
    readonly logLines: string[],
    private readonly dataDir: string,
  ) {}

  static async start(databaseUrl: string, { settings, limits, clock = new FakeClock() }: Options = {}) {
    const dataDir = await mkdtemp(join(tmpdir(), 'mail-'));
    const config = loadConfig({
      ...testSettings,
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      MIGRATE_ON_START: 'true',
      ...settings,
    });
    const lines: string[] = [];
    const sink = new Writable({ write: (chunk: Buffer, _, done) => (lines.push(chunk.toString()), done()) });
    const logger = new NestLogger(pino({ base: undefined, serializers: { err: describeError } }, sink));
    const module = await Test.createTestingModule({ imports: [ConfigModule.with(config), PlatformModule, MailModule] })
      .setLogger(logger)
      .overrideProvider(Clock)
      .useValue(clock)
      .overrideProvider(MailLimits)
      .useValue({ ...testLimits, ...limits })
      .compile();
    await module.init();
    // The first mail would load this package. Under jest, loading is slow, and a test may measure the first mail.
    await import('@nestjs-modules/mailer/adapters/handlebars.adapter');
    module.get(MailOutbox).startSending();
    return new MailReplica(module, clock, lines, dataDir);
  }

  async stop(): Promise<void> {
    await this.module.close();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  get<T>(provider: abstract new (...args: never[]) => T): T {
    return this.module.get(provider, { strict: false });
  }

  get database(): Database {
    return this.module.get<Database>(Database, { strict: false });
  }

  sendDue(): Promise<void> {
    return this.get(MailOutbox).sendDue();
  }

  async queueOtp(
    more: Partial<Pick<OtpMail, 'to' | 'code' | 'expires' | 'language'> & { userId: string }> = {},
  ): Promise<void> {
    const expires = this.clock.secondsFromNow(300);
    await this.database.transaction((tx) =>
      this.get(Mailer).queueOtp(tx, {
        userId: 'user-of-the-mail',
        loginName: 'alice',
        to: 'alice@example.com',
        code: '048213',
        expires,
        language: 'en',
        ...more,
      }),
    );
  }

  async queueMany(count: number): Promise<void> {
    await this.database.transaction(async (tx) => {
      for (let number = 1; number <= count; number++) {
        await this.get(Mailer).queueOtp(tx, {
          userId: `user-${number}`,
          loginName: `user-${number}`,
          to: `user-${number}@example.com`,
          code: String(number).padStart(6, '0'),
          expires: this.clock.secondsFromNow(300),
          language: 'en',
        });
      }
    });
  }

  /** A link of `/forget-password`, or an invitation. */
  async queueLinks(type: ResetLinkMail['type'], count = 1): Promise<void> {
    const name = type === changeType.first ? 'invited' : 'forgetful';
    await this.database.transaction(async (tx) => {
      for (let number = 1; number <= count; number++) {
        await this.get(Mailer).queueResetLink(tx, {
          userId: `${name}-${number}`,
          loginName: `${name}-${number}`,
          to: `${name}-${number}@example.com`,
          link: `${this.get(ServiceSettings).systemUrl}/reset-password?uid=x`,
          type,
          expires: this.clock.secondsFromNow(1800),
          language: 'en',
        });
      }
    });
  }

  rows(): Promise<OutboxRow[]> {
    return this.database.rows<OutboxRow>('SELECT * FROM mail_outbox ORDER BY created_at, id');
  }

  async setting(key: string, value: string | undefined): Promise<void> {
    await this.database.affected('DELETE FROM system_configs WHERE `group` = ? AND `key` = ?', ['SMTP', key]);
    if (value === undefined) return;
    await this.database.affected('INSERT INTO system_configs (tenant_id, `group`, `key`, value) VALUES (?, ?, ?, ?)', [
      'root',
      'SMTP',
      key,
      value,
    ]);
  }

  async emlFiles(): Promise<{ name: string; text: string }[]> {
    const folder = join(this.dataDir, 'outbox');
    const names = await readdir(folder).catch(() => []);
    return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })));
  }
}

export interface OutboxRow {
  readonly id: string;
  readonly kind: string;
  readonly payload: string | null;
  readonly status: number;
  readonly attempts: number;
  readonly claimed_by: string | null;
  readonly sent_at: unknown;
}
