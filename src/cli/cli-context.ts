import { type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AppConfig } from '../platform/config/app-config';
import { configOrExit } from '../platform/config/env';
import { DatabaseConnection } from '../platform/database/database-connection';
import { createLogger, NestLogger } from '../platform/logging/logger';
import { CliModule } from './cli.module';
import { operator } from './program';

/** What the operator reads on standard error: one line, and exit code 1 unless told. */
export class CliProblem extends Error {
  override readonly name = 'CliProblem';

  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

/** Runs one command inside the application, without its HTTP side, and closes it whatever happens. */
export async function inContext<T>(
  work: (context: INestApplicationContext, config: AppConfig) => Promise<T>,
): Promise<T> {
  const config = withoutTimeLimits(configOrExit());
  const context = await NestFactory.createApplicationContext(CliModule.with(config, operator()), {
    logger: new NestLogger(createLogger('silent')),
    abortOnError: false,
  });
  try {
    const state = await context.get(DatabaseConnection).probe();
    if (state === 'unreachable') throw new CliProblem('the database cannot be reached');
    if (state === 'migrations pending') throw new CliProblem('the database has pending migrations: run migrate first');
    return await work(context, config);
  } finally {
    await context.close();
  }
}

/** A long read, or a row that somebody holds: nobody waits for the answer within 5 s. */
function withoutTimeLimits(config: AppConfig): AppConfig {
  return { ...config, database: { ...config.database, timeLimits: false } };
}

/** All of standard input without its last line break: a secret that does not show in the process list. */
export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** `--json` prints the value, otherwise one `key: value` line for each member. */
export function printRecord(record: Readonly<Record<string, unknown>>, json: boolean | undefined): void {
  if (json) print(JSON.stringify(record));
  else for (const [key, value] of Object.entries(record)) print(`${key}: ${textOf(value)}`);
}

export function printRows(rows: readonly Readonly<Record<string, unknown>>[], json: boolean | undefined): void {
  if (json) print(JSON.stringify(rows));
  else for (const row of rows) print(rowText(row));
}

/** The line of a table. */
export function rowText(row: Readonly<Record<string, unknown>>): string {
  return Object.values(row).map(textOf).join('\t');
}

/** Waits until the reader has taken the text. @returns false when nobody reads any more */
export function written(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.write(text, (error) => resolve(!error));
  });
}

function textOf(value: unknown): string {
  return value === null || value === undefined ? '-' : typeof value === 'string' ? value : JSON.stringify(value);
}
