import type { Connection } from 'mysql2/promise';
import { DataSource, MigrationExecutor } from 'typeorm';
import { migrations } from '../../../migrations/all';
import { oldestRelease } from '../../../migrations/releases';
import type { RepeatableMigration } from '../../../migrations/repeatable';
import { type Change, watchChanges } from '../../../src/platform/database/rehearsal/schema-changes';
import { migrationOptions } from '../../../src/platform/database/typeorm-options';
import { lockedForLogins } from './login-beside';

type MigrationClass = new () => RepeatableMigration;

const lastReleased = migrations.findIndex((one) => one.name === oldestRelease.lastMigration) + 1;
/** The schema of version 1.0.0, which has no migration that can change. */
export const releasedMigrations: readonly MigrationClass[] = migrations.slice(0, lastReleased);
export const newMigrations: readonly MigrationClass[] = migrations.slice(lastReleased);

/** A statement may lock so many rows of a table that logins write. */
const rowsOfStatement = 1000;

/** Runs these migrations, and reports each statement that changes a table or its rows. */
export async function runWatched(
  url: string,
  classes: readonly MigrationClass[],
  seen: (change: Change) => void | Promise<void>,
): Promise<void> {
  const source = await new DataSource({ ...migrationOptions(url), migrations: [...classes] }).initialize();
  const runner = source.createQueryRunner();
  try {
    watchChanges(runner, url.startsWith('sqlite:') ? undefined : 'MariaDB', seen);
    const executor = new MigrationExecutor(source, runner);
    executor.transaction = 'each';
    await executor.executePendingMigrations();
  } finally {
    await runner.release();
    await source.destroy();
  }
}

/**
 * Runs migrations and judges each statement without a clock: the database must make it without a copy of a table and without blocking
 * writes, a statement may change a thousand rows, and between two statements no lock may be held that a login needs.
 * @returns what breaks the law
 */
export async function judge(url: string, classes: readonly MigrationClass[], login: Connection): Promise<string[]> {
  const broken: string[] = [];
  await runWatched(url, classes, async ({ migration, statement, kind, blocks, rows, table }) => {
    const what = `${migration}: ${statement.split(' ', 4).join(' ')}`;
    if (kind === 'rebuild') broken.push(`${what} copies the table${blocks ? ', and logins wait' : ''}`);
    if (rows > rowsOfStatement && loginTables.has(table)) broken.push(`${what} changes ${rows} rows at once`);
    const held = await lockedForLogins(login);
    if (held !== undefined) broken.push(`${what} leaves locks: ${held}`);
  });
  return broken;
}

/** A login writes these. */
const loginTables = new Set(['users', 'login_tokens', 'login_logs', 'audit_logs', 'pending_logins', 'event_outbox']);
