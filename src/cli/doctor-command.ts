import { existsSync } from 'node:fs';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Command } from 'commander';
import { ConnectionChecks, type Finding, type Health, storedNames } from '../admin/connection-checks';
import type { AppConfig } from '../settings/app-config';
import { configOrExit } from '../settings/env';
import { KeyRing } from '../platform/crypto/key-ring';
import { Database } from '../platform/database/database';
import { createLogger, NestLogger } from '../platform/logging/logger';
import { CliProblem, print } from './cli-context';
import { CliModule } from './cli.module';
import { checkKeys, checkSettings } from './doctor/own-checks';
import { checkStore } from './doctor/store-checks';
import { censusOfAll } from './sealed-values';

/**
 * `doctor`: checks each part, changes nothing, and prints one line for each. Exit code 1 if a part has a problem, 2 if only
 * migrations are pending.
 */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'checks database, migrations, writes, cluster, SMTP, events, old system, identity providers, LDAP, captcha, Redis, keys, clock, settings',
    )
    .option('--json')
    .action(async ({ json }: { json?: boolean }) => {
      const findings = await examine(withoutChanges(configOrExit()));
      if (json) print(JSON.stringify(findings));
      else for (const { check, status, text } of findings) print(`${check.padEnd(12)}${status.padEnd(9)}${text}`);
      const failed = findings.filter(({ status }) => status === 'problem').map(({ check }) => check);
      if (failed.length > 0) throw new CliProblem(`doctor found problems: ${failed.join(', ')}`);
      if (findings.some(({ status }) => status === 'pending')) {
        throw new CliProblem('doctor found nothing wrong, and migrations are pending: run `migrate`', 2);
      }
    });
}

/**
 * A check must not migrate the database. SQLite makes a file that does not exist when it opens it, and the folder with it: the
 * database of a misspelt path would then be there. An empty database in memory gives the same findings.
 */
function withoutChanges({ database, ...config }: AppConfig): AppConfig {
  const isNewFile = database.url.startsWith('sqlite:') && !existsSync(database.url.slice('sqlite:'.length));
  const url = isNewFile ? 'sqlite::memory:' : database.url;
  return { ...config, database: { ...database, url, migrateOnStart: false } };
}

async function examine(config: AppConfig): Promise<Finding[]> {
  const [database, migrations] = await checkStore(config);
  const context = await NestFactory.createApplicationContext(CliModule.with(config), {
    logger: new NestLogger(createLogger('silent')),
    abortOnError: false,
  });
  try {
    const checks = context.get(ConnectionChecks);
    const usable = migrations.status === 'ok';
    const others = await Promise.all([
      ...(usable
        ? checks.storedChecks()
        : storedNames.map((name) => Promise.resolve(skipped(name, migrations.status)))),
      ...checks.otherChecks(),
      checkSettings(config),
      checkKeys(config, context.get(KeyRing), usable ? (signal) => sealed(context, signal) : undefined),
    ]);
    return [database, migrations, ...others];
  } finally {
    await context.close();
  }
}

const sealed = (context: INestApplicationContext, signal: AbortSignal) =>
  censusOfAll(context.get(Database), context.get(KeyRing), signal);

function skipped(check: string, migrations: Health): Finding {
  return { check, status: 'skipped', text: migrations === 'pending' ? 'needs the migrations' : 'needs the database' };
}
