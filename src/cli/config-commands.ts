import type { Command } from 'commander';
import { operatorAuthority } from '../admin/authority';
import { Configuration, type Setting } from '../admin/configuration';
import { assertWellFormed } from '../admin/known-settings';
import { rootTenant } from '../platform/settings/system-settings';
import { CliProblem, inContext, printRecord, printRows, readStandardInput } from './cli-context';
import { addInstallationCommands } from './installation-commands';

interface Options {
  tenant: string;
  valueStdin?: boolean;
  json?: boolean;
}

/** `config …`: settings in the table `system_configs`. Each process sees a change within a second. */
export function addConfigCommands(program: Command): void {
  const config = program.command('config').description('settings of the root tenant');
  const verb = (usage: string) =>
    config.command(usage).option('--tenant <id>', 'another tenant', rootTenant).option('--json');

  verb('set <group> <key> [value]')
    .option('--value-stdin', 'read the value from standard input')
    .action(async (group: string, key: string, given: string | undefined, { tenant, valueStdin, json }: Options) => {
      const typed = valueStdin ? await readStandardInput() : given;
      if (typed === undefined)
        throw new CliProblem('the value is missing: give it after the key, or use --value-stdin');
      await inContext(async (context) => {
        const setting = await context.get(Configuration).set(operatorAuthority, { tenant, group, key }, typed);
        printRecord({ tenant_id: tenant, group, key, value: shown(setting) }, json);
      });
    });

  verb('get <group> <key>').action((group: string, key: string, { tenant, json }: Options) =>
    inContext(async (context) => {
      assertWellFormed(group, key);
      const settings = await context.get(Configuration).list(tenant);
      const setting = settings.find((one) => one.group === group && one.key === key);
      if (setting === undefined) throw new CliProblem(`${group} ${key} is not set`);
      if (json) printRecord({ tenant_id: tenant, group, key, value: shown(setting) }, json);
      else process.stdout.write(`${shown(setting)}\n`);
    }),
  );

  verb('unset <group> <key>').action((group: string, key: string, { tenant, json }: Options) =>
    inContext(async (context) => {
      const removed = await context.get(Configuration).unset(operatorAuthority, { tenant, group, key });
      printRecord({ tenant_id: tenant, group, key, removed }, json);
    }),
  );

  verb('list').action(({ tenant, json }: Options) =>
    inContext(async (context) => {
      const settings = await context.get(Configuration).list(tenant);
      printRows(
        settings.map((setting) => ({ group: setting.group, key: setting.key, value: shown(setting) })),
        json,
      );
    }),
  );
  addInstallationCommands(config);
}

const shown = ({ secret, value }: Setting): string | null => (secret ? '(hidden)' : value);
