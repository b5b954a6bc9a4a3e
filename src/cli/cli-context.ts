import { type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AppConfig } from '../settings/app-config';
import { configOrExit } from '../settings/env';
import { Database } from '../platform/database/database';
import { DatabaseConnection } from '../platform/database/database-connection';
import { isStoreFailure, storeCode } from '../platform/database/store-failure';
import { storeReason } from '../platform/database/store-reason';
import { createLogger, NestLogger } from '../platform/logging/logger';
import { GroupProblem } from '../groups/group-problem';
import { DomainError } from '../shared/errors/domain-error';
import { timeOfText } from '../shared/time-text';
import { assertTenant } from '../users/tenant.repository';
import { AccountProblem } from '../users/user-accounts';
import { CliModule } from './cli.module';
import { standardInput, textOfInput } from './input';
import { operator } from './program';

/** An error for the operator: one line on standard error, and exit code 1 unless another one is given. */
export class CliProblem extends Error {
  override readonly name = 'CliProblem';

  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

/** Describes an error in one line for standard error, without values that may be secrets. */
export function problemOf(error: unknown): string {
  if (error instanceof AccountProblem || error instanceof GroupProblem) return error.message;
  if (error instanceof DomainError) {
    const { cause, entry } = error;
    return isStoreFailure(cause) ? problemOf(cause) : `${entry.code}: ${entry.msg.en}`;
  }
  const code = storeCode(error);
  if (isStoreFailure(error)) return `the database ${storeReason(error)}: check DATABASE_URL and the database`;
  if (code.startsWith('ER_') || code.startsWith('SQLITE_')) return `the database refused the statement: ${code}`;
  return error instanceof Error ? error.message.replace(/\s*\n\s*/g, ' ') : 'unknown error';
}

/**
 * Runs one command in the application without its HTTP part, and closes the application in any case.
 * @param options.migrate false: pending migrations end the command, also with `MIGRATE_ON_START`
 */
export async function inContext<T>(
  work: (context: INestApplicationContext, config: AppConfig) => Promise<T>,
  { migrate = true }: { migrate?: boolean } = {},
): Promise<T> {
  const config = withoutTimeLimits(configOrExit(), migrate);
  const context = await NestFactory.createApplicationContext(CliModule.with(config, operator()), {
    logger: new NestLogger(createLogger('silent')),
    abortOnError: false,
  });
  try {
    const connection = context.get(DatabaseConnection);
    const state = await connection.probe();
    if (state === 'unreachable' || state === 'refuses connections') {
      throw new CliProblem(`the database ${connection.reason}: check DATABASE_URL and the database`);
    }
    if (state === 'migrations pending')
      throw new CliProblem('the database has pending migrations: run `migrate` first');
    return await work(context, config);
  } finally {
    await context.close();
  }
}

/** A command may read for a long time or wait for a locked row. It has no client that needs an answer within 5 s. */
function withoutTimeLimits({ database, ...config }: AppConfig, migrate: boolean): AppConfig {
  const migrateOnStart = migrate && database.migrateOnStart;
  return { ...config, database: { ...database, migrateOnStart, timeLimits: false } };
}

/** All of standard input without the last line break. A secret that is read here does not show in the process list. */
export const readStandardInput = (): Promise<string> => textOfInput(standardInput);

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints JSON with `--json`, otherwise one `key: value` line for each member. */
export function printRecord(record: Readonly<Record<string, unknown>>, json: boolean | undefined): void {
  if (json) print(JSON.stringify(record));
  else for (const [key, value] of Object.entries(record)) print(`${key}: ${textOf(value)}`);
}

export function printRows(rows: readonly Readonly<Record<string, unknown>>[], json: boolean | undefined): void {
  if (json) print(JSON.stringify(rows));
  else for (const row of rows) print(rowText(row));
}

/** One line of a table, separated by tabs. */
export function rowText(row: Readonly<Record<string, unknown>>): string {
  return Object.values(row).map(textOf).join('\t');
}

/** Waits until the reader has taken the text. @returns false if the reader has closed the pipe */
export function written(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.write(text, (error) => resolve(!error));
  });
}

/** @throws CliProblem unless the value is one of those allowed */
export function oneOf<T extends string>(what: string, value: string, allowed: readonly T[], exitCode?: number): T {
  if ((allowed as readonly string[]).includes(value)) return value as T;
  throw new CliProblem(`${what} must be one of ${allowed.join(', ')}`, exitCode);
}

/**
 * For a list: a misspelt tenant must not look like one without rows.
 * @throws AccountProblem when a tenant is given and there is none
 */
export async function assertTenantIfGiven(
  context: INestApplicationContext,
  tenantId: string | undefined,
): Promise<void> {
  if (tenantId !== undefined) await assertTenant(context.get(Database), tenantId);
}

/** @throws CliProblem unless the text is a time */
export function timeOption(name: string, text: string): Date {
  const time = timeOfText(text);
  if (time === undefined) throw new CliProblem(`${name} must be a time such as 2026-03-02T10:00:00Z`);
  return time;
}

export const statusOf = (value: string): number => Number(oneOf('the status', value, ['1', '0', '-1', '-2']));

function textOf(value: unknown): string {
  return value === null || value === undefined ? '-' : typeof value === 'string' ? value : JSON.stringify(value);
}
