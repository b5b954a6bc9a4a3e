import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CaptchaReceipts } from '../../../src/captcha/captcha-receipt.repository';
import { CaptchaReceipt } from '../../../src/captcha/captcha-receipt.entity';
import type { Clock } from '../../../src/shared/clock';
import { type AppConfig, loadConfig } from '../../../src/settings/app-config';
import { Database } from '../../../src/platform/database/database';
import { migrate } from '../../../src/platform/database/migrator';
import { giveEachCallerItsOwnRunner } from '../../../src/platform/database/sqlite-runners';
import { typeormOptions } from '../../../src/platform/database/typeorm-options';
import { dataKey } from '../settings';

/** Settings of the service, parsed from environment variables as in production. */
export function settings(environment: Record<string, string> = {}): AppConfig {
  return loadConfig({
    NODE_ENV: 'test',
    JWT_SECRET: 'a secret for tests only, long enough',
    DATA_ENCRYPTION_KEY: dataKey('k'),
    ...environment,
  });
}

export interface Store {
  readonly url: string;
  readonly database: Database;
  /** @param database another one for the same table */
  receipts(clock: Clock, database?: Database): CaptchaReceipts;
  close(): Promise<void>;
}

/** A private, migrated SQLite database, opened as the service opens it. */
export async function temporaryStore(): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), 'captcha-'));
  const url = `sqlite:${join(directory, 'test.sqlite')}`;
  await migrate(url);
  const dataSource = await new DataSource({ ...typeormOptions(url, 1), entities: [CaptchaReceipt] }).initialize();
  giveEachCallerItsOwnRunner(dataSource);
  const database = Database.over(dataSource);
  return {
    url,
    database,
    receipts: (clock, over = database) => new CaptchaReceipts(dataSource.getRepository(CaptchaReceipt), over, clock),
    close: async () => {
      await dataSource.destroy();
      rmSync(directory, { recursive: true });
    },
  };
}

/** Collects log lines instead of printing them. */
export function captureLog(): { readonly lines: { level: string; line: string }[] } {
  const lines: { level: string; line: string }[] = [];
  const write =
    (level: string) =>
    (...message: unknown[]) =>
      void lines.push({ level, line: JSON.stringify(message) });
  Logger.overrideLogger({ log: write('log'), warn: write('warn'), error: write('error') });
  return { lines };
}
