import type { Command } from 'commander';
import { AuditTrail } from '../audit/audit-trail';
import { Database, type Transaction } from '../platform/database/database';
import { isDuplicate } from '../platform/database/store-failure';
import { rootTenant } from '../platform/settings/system-settings';
import { assertTenant } from '../users/user-accounts';
import { CliProblem, inContext, printRecord, printRows, readStandardInput } from './cli-context';
import { assertWellFormed, shown, storable } from './known-settings';

interface Options {
  tenant: string;
  valueStdin?: boolean;
  json?: boolean;
}

const where = 'WHERE tenant_id = ? AND `group` = ? AND `key` = ?';

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
        const value = storable(context, group, key, typed);
        await assertTenant(context.get(Database), tenant);
        const write = async (tx: Transaction) => {
          await tx.affected(`DELETE FROM system_configs ${where}`, [tenant, group, key]);
          await tx.affected('INSERT INTO system_configs (tenant_id, `group`, `key`, value) VALUES (?, ?, ?, ?)', [
            tenant,
            group,
            key,
            value,
          ]);
          await context.get(AuditTrail).record(tx, 'CONFIG_CHANGED', { detail: { tenant, group, key } });
        };
        // Race: several commands set the same new key. One INSERT succeeds. The others fail with a duplicate key, and
        // their next attempt replaces that row.
        const database = context.get(Database);
        for (let attempt = 1; ; attempt++) {
          try {
            await database.transaction(write);
            break;
          } catch (error) {
            if (!isDuplicate(error) || attempt === 5) throw error;
          }
        }
        printRecord({ tenant_id: tenant, group, key, value: shown(group, key, value) }, json);
      });
    });

  verb('get <group> <key>').action((group: string, key: string, { tenant, json }: Options) =>
    inContext(async (context) => {
      assertWellFormed(group, key);
      await assertTenant(context.get(Database), tenant);
      const row = await context
        .get(Database)
        .row<{ value: string }>(`SELECT value FROM system_configs ${where}`, [tenant, group, key]);
      if (row === undefined) throw new CliProblem(`${group} ${key} is not set`);
      if (json) printRecord({ tenant_id: tenant, group, key, value: shown(group, key, row.value) }, json);
      else process.stdout.write(`${shown(group, key, row.value)}\n`);
    }),
  );

  verb('unset <group> <key>').action((group: string, key: string, { tenant, json }: Options) =>
    inContext(async (context) => {
      assertWellFormed(group, key);
      await assertTenant(context.get(Database), tenant);
      const removed = await context.get(Database).transaction(async (tx) => {
        const rows = await tx.affected(`DELETE FROM system_configs ${where}`, [tenant, group, key]);
        if (rows > 0) await context.get(AuditTrail).record(tx, 'CONFIG_CHANGED', { detail: { tenant, group, key } });
        return rows > 0;
      });
      printRecord({ tenant_id: tenant, group, key, removed }, json);
    }),
  );

  verb('list').action(({ tenant, json }: Options) =>
    inContext(async (context) => {
      await assertTenant(context.get(Database), tenant);
      const rows = await context.get(Database).rows<{
        group: string;
        key: string;
        value: string;
      }>('SELECT `group`, `key`, value FROM system_configs WHERE tenant_id = ? ORDER BY `group`, `key`', [tenant]);
      printRows(
        rows.map(({ group, key, value }) => ({ group, key, value: shown(group, key, value) })),
        json,
      );
    }),
  );
}
