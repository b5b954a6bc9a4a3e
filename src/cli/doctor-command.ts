import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Command } from 'commander';
import { DataSource } from 'typeorm';
import { IdentityProviderAdministration } from '../admin/identity-provider-administration';
import { ProviderVerification } from '../admin/provider-verification';
import { LoginJournal } from '../audit/login-journal';
import { CaptchaGateway } from '../captcha/captcha-gateway';
import { LogoutTokens } from '../applications/logout-tokens';
import { EventOutbox } from '../events/event-outbox';
import { LegacySystem } from '../legacy/legacy-system';
import { SmtpCheck } from '../mail/smtp-check';
import type { AppConfig } from '../settings/app-config';
import { configOrExit } from '../settings/env';
import { KeyRing } from '../platform/crypto/key-ring';
import { Database } from '../platform/database/database';
import { DatabaseClock } from '../platform/database/database-clock';
import { takesWrites } from '../platform/database/writability';
import { createLogger, NestLogger } from '../platform/logging/logger';
import { CliProblem, print } from './cli-context';
import { UsersRepository } from '../users/users.repository';
import { CliModule } from './cli.module';
import type { Finding, Health } from './doctor/finding';
import { Clock } from '../shared/clock';
import { checkClock, checkKeys, checkSettings } from './doctor/own-checks';
import {
  checkCaptcha,
  checkCounters,
  checkEvents,
  checkLdap,
  checkLegacy,
  checkLogouts,
  checkMail,
} from './doctor/peer-checks';
import { checkIdentityProviders } from './doctor/provider-checks';
import { checkCluster, checkStore, checkWrites } from './doctor/store-checks';
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
      // A check must not migrate the database.
      const config = configOrExit({ MIGRATE_ON_START: 'false' });
      const findings = await examine(config);
      if (json) print(JSON.stringify(findings));
      else for (const { check, status, text } of findings) print(`${check.padEnd(12)}${status.padEnd(9)}${text}`);
      const failed = findings.filter(({ status }) => status === 'problem').map(({ check }) => check);
      if (failed.length > 0) throw new CliProblem(`doctor found problems: ${failed.join(', ')}`);
      if (findings.some(({ status }) => status === 'pending')) {
        throw new CliProblem('doctor found nothing wrong, and migrations are pending: run `migrate`', 2);
      }
    });
}

async function examine(config: AppConfig): Promise<Finding[]> {
  const [database, migrations] = await checkStore(config);
  const context = await NestFactory.createApplicationContext(CliModule.with(config), {
    logger: new NestLogger(createLogger('silent')),
    abortOnError: false,
  });
  try {
    const usable = migrations.status === 'ok';
    const others = await Promise.all([
      ...(usable
        ? storedChecks(config, context)
        : storedNames.map((name) => Promise.resolve(skipped(name, migrations.status)))),
      checkLdap(config),
      checkCounters(config),
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

const storedNames = ['writes', 'cluster', 'clock', 'captcha', 'smtp', 'events', 'legacy', 'idp'];

/** Checks that need the tables: one table holds the settings of the mail server, another the used captcha tokens. */
function storedChecks(config: AppConfig, context: INestApplicationContext): Promise<Finding>[] {
  const database = context.get(Database);
  return [
    checkWrites(database, context.get(LoginJournal, { strict: false }), () =>
      takesWrites(database, context.get(DataSource)),
    ),
    checkCluster(config, database),
    checkClock(context.get(DatabaseClock)),
    checkCaptcha(config, context.get(CaptchaGateway)),
    checkMail(config, context.get(SmtpCheck)),
    checkEvents(context.get(EventOutbox)),
    checkLegacy(context.get(LegacySystem, { strict: false }), () =>
      context.get(UsersRepository, { strict: false }).legacyLogins(),
    ),
    checkIdentityProviders(
      context.get(IdentityProviderAdministration),
      context.get(ProviderVerification),
      context.get(Clock, { strict: false }).now(),
      config.scim?.identityProvider ?? null,
    ),
    ...(config.openId === undefined ? [] : [checkLogouts(context.get(LogoutTokens, { strict: false }))]),
  ];
}

function skipped(check: string, migrations: Health): Finding {
  return { check, status: 'skipped', text: migrations === 'pending' ? 'needs the migrations' : 'needs the database' };
}
