import type { Command } from 'commander';
import { configOrExit } from '../settings/env';
import { migrate } from '../platform/database/migrator';
import { adopt } from './adopt-command';
import { CliProblem, print } from './cli-context';

interface Options {
  adopt?: string;
  dryRun?: boolean;
  json?: boolean;
}

/** `migrate`: may run in several pods at the same time. The second one waits and then finds nothing to do. */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('bring the database to the newest schema')
    .option(
      '--adopt <file>',
      'then fill the users from a table on the same server, as the JSON file (- for standard input) describes',
    )
    .option('--dry-run', 'with --adopt: check every row, write nothing')
    .option('--json')
    .action(async ({ adopt: file, dryRun = false, json = false }: Options) => {
      if (file !== undefined) return adopt(file, { dryRun, json });
      if (dryRun) throw new CliProblem('--dry-run needs --adopt');
      const ran = await migrate(configOrExit().database.url);
      if (json) print(JSON.stringify({ ran }));
      else print(ran.length === 0 ? 'nothing to do' : `ran ${ran.join(', ')}`);
    });
}
