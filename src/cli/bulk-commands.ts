import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { operatorAuthority } from '../admin/authority';
import { BulkSupport } from '../admin/bulk-support';
import { UserAdministration } from '../admin/user-administration';
import { UserSupport } from '../admin/user-support';
import type { User } from '../users/user.entity';
import { CliProblem, inContext, printRecord, readStandardInput } from './cli-context';
import { interruptible } from './interruption';

interface Options {
  all?: true;
  tenant?: string;
  dryRun?: true;
  json?: boolean;
}

type What = 'resetSecondFactor' | 'requirePasswordChange';

/** `user reset-totp` and `user require-password-change`: of accounts by name, of a tenant, or of all. */
export function addBulkCommands(user: Command): void {
  add(user, 'reset-totp', 'resetSecondFactor', {
    description: 'remove authenticators, recovery codes and trusted devices; codes are sent by mail again',
    selects: 'with an authenticator',
  });
  add(user, 'require-password-change', 'requirePasswordChange', {
    description: 'ask for a new password at the next login; open sessions go on',
    selects: 'with a password of this service',
  });
}

function add(user: Command, command: string, what: What, texts: { description: string; selects: string }): void {
  user
    .command(command)
    .description(texts.description)
    .argument('[name]', 'login name or uid; - reads names from standard input, one a line')
    .argument('[more...]', 'further names')
    .option('--all', `every account ${texts.selects}`)
    .option('--tenant <id>', `the accounts of this tenant ${texts.selects}`)
    .option('--dry-run', 'count the accounts, change nothing')
    .option('--json')
    .action(async (name: string | undefined, more: string[], options: Options) => {
      const given = name === undefined ? [] : [name, ...more];
      const ways = [given.length > 0, options.all, options.tenant !== undefined].filter(Boolean);
      if (ways.length !== 1)
        throw new CliProblem('give either names, - for those on standard input, --tenant or --all');
      const names = given.length === 0 ? undefined : await namesOf(given);
      await inContext((context) => (names ? ofNames(what, names, options, context) : ofMany(what, options, context)));
    });
}

async function namesOf(given: readonly string[]): Promise<string[]> {
  if (!given.includes('-')) return [...new Set(given)];
  if (given.length > 1) throw new CliProblem('give either names, or - for those on standard input');
  const lines = (await readStandardInput()).split('\n').map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ''))];
}

/** Checks all names first, so that a misspelt one changes nobody. */
async function ofNames(what: What, names: string[], options: Options, context: INestApplicationContext): Promise<void> {
  const found: User[] = [];
  for (const name of names) found.push(await context.get(UserAdministration).find(name));
  const elsewhere = found.find(({ provider }) => what === 'requirePasswordChange' && provider !== 'password');
  if (elsewhere) {
    throw new CliProblem(`${JSON.stringify(elsewhere.loginName)} has the password of the directory: change it there`);
  }
  if (options.dryRun) return printRecord({ selected: found.length }, options.json);
  const support = context.get(UserSupport);
  const report = { users: 0 };
  const interrupted = await interruptible(
    async (signal) => {
      for (const { uid } of found) {
        if (signal.aborted) return;
        await support[what](operatorAuthority, uid);
        report.users += 1;
      }
    },
    () => `after ${report.users} of ${found.length} users; run it again for the rest`,
  );
  const [one, ...others] = found;
  const alone = one !== undefined && others.length === 0 && { uid: one.uid, login_name: one.loginName, result: true };
  printRecord(alone || { selected: found.length, ...report }, options.json);
  if (interrupted) throw interrupted;
}

async function ofMany(what: What, { tenant, dryRun, json }: Options, context: INestApplicationContext): Promise<void> {
  const bulk = context.get(BulkSupport);
  const selected = await bulk.count(what, tenant);
  if (dryRun) return printRecord({ selected }, json);
  const report = { users: 0 };
  // Progress is for people. A program that reads the JSON report expects only problems on standard error.
  const progress = () => {
    if (!json && report.users < selected) process.stderr.write(`${report.users} of ${selected} users\n`);
  };
  const interrupted = await interruptible(
    (signal) => bulk.run(what, tenant, { report, progress, signal }),
    () => `after ${report.users} users; run it again for the rest`,
  );
  printRecord({ selected, ...report }, json);
  if (interrupted) throw interrupted;
}
