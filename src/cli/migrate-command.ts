import type { Command } from 'commander';
import { configOrExit } from '../platform/config/env';
import { migrate } from '../platform/database/migrator';
import { print } from './cli-context';

/** `migrate`: may run in several pods at the same time. The second one waits and then finds nothing to do. */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('bring the database to the newest schema')
    .option('--json')
    .action(async ({ json }: { json?: boolean }) => {
      const ran = await migrate(configOrExit().database.url);
      if (json) print(JSON.stringify({ ran }));
      else print(ran.length === 0 ? 'nothing to do' : `ran ${ran.join(', ')}`);
    });
}
