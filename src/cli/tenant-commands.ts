import type { Command } from 'commander';
import { everyTenant } from '../admin/admin-scope';
import { operatorAuthority } from '../admin/authority';
import { type OrgUnit, OrgUnits } from '../admin/org-units';
import { type Tenant, Tenants } from '../admin/tenants';
import { rootTenant } from '../platform/settings/system-settings';
import { assertTenantIfGiven, inContext, printRecord } from './cli-context';
import { pagesOf, printPages } from './printed-pages';

interface Options {
  tenant?: string;
  json?: boolean;
}

/** `tenant …` and `org-unit …`: the same use cases as `/admin/tenants` and `/admin/org-units`. */
export function addTenantCommands(program: Command): void {
  const tenant = program.command('tenant').description('tenants');
  tenant
    .command('create <id> <name>')
    .option('--json')
    .action((id: string, name: string, { json }: Options) =>
      inContext(async (context) => {
        printRecord(tenantView(await context.get(Tenants).create(operatorAuthority, { id, name })), json);
      }),
    );
  tenant
    .command('rename <id> <name>')
    .option('--json')
    .action((id: string, name: string, { json }: Options) =>
      inContext(async (context) => {
        printRecord(tenantView(await context.get(Tenants).rename(operatorAuthority, { id, name })), json);
      }),
    );
  tenant
    .command('list')
    .description('print one line for each tenant, ordered by id')
    .option('--json', 'one array')
    .action(({ json }: Options) =>
      inContext((context) =>
        printPages(
          pagesOf((limit, after?: readonly [string]) => context.get(Tenants).list(limit, after?.[0])),
          tenantView,
          json,
        ),
      ),
    );

  const unit = program.command('org-unit').description('organisation units');
  unit
    .command('create <id> <name>')
    .option('--tenant <id>', 'the tenant', rootTenant)
    .option('--json')
    .action((id: string, name: string, { tenant: tenantId = rootTenant, json }: Options) =>
      inContext(async (context) => {
        printRecord(unitView(await context.get(OrgUnits).create(operatorAuthority, { id, tenantId, name })), json);
      }),
    );
  unit
    .command('rename <id> <name>')
    .option('--json')
    .action((id: string, name: string, { json }: Options) =>
      inContext(async (context) => {
        printRecord(unitView(await context.get(OrgUnits).rename(operatorAuthority, { id, name })), json);
      }),
    );
  unit
    .command('list')
    .description('print one line for each organisation unit, ordered by id')
    .option('--tenant <id>', 'only the units of this tenant')
    .option('--json', 'one array')
    .action(({ tenant: tenantId, json }: Options) =>
      inContext(async (context) => {
        await assertTenantIfGiven(context, tenantId);
        await printPages(
          pagesOf((limit, after?: readonly [string]) =>
            context.get(OrgUnits).list({ tenantId: everyTenant }, tenantId, limit, after?.[0]),
          ),
          unitView,
          json,
        );
      }),
    );
}

const tenantView = ({ id, name }: Tenant) => ({ id, name });
const unitView = ({ id, tenantId, name }: OrgUnit) => ({ id, tenant_id: tenantId, name });
