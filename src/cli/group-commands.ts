import type { Command } from 'commander';
import { operatorAuthority } from '../admin/authority';
import { GroupAdministration } from '../admin/group-administration';
import { groupView, memberView } from '../admin/group-views';
import type { GroupPlace } from '../groups/group-listing';
import { rootTenant } from '../platform/settings/system-settings';
import { assertTenantIfGiven, inContext, printRecord } from './cli-context';
import { pagesOf, printPages } from './printed-pages';

interface Options {
  readonly tenant?: string;
  readonly query?: string;
  readonly json?: boolean;
}

/** `group …`: the same use cases as `/admin/groups`. */
export function addGroupCommands(program: Command): void {
  const group = program.command('group').description('groups of users');
  const by = operatorAuthority;
  const withGroups = (work: (groups: GroupAdministration) => Promise<void>) =>
    inContext((context) => work(context.get(GroupAdministration)));

  group
    .command('create <name>')
    .option('--tenant <id>', 'the tenant', rootTenant)
    .option('--json')
    .action((name: string, { tenant = rootTenant, json }: Options) =>
      withGroups(async (groups) => printRecord(groupView(await groups.create(by, tenant, name)), json)),
    );
  group
    .command('list')
    .description('print one line for each group, ordered by name')
    .option('--tenant <id>', 'only the groups of this tenant')
    .option('--query <text>', 'the beginning of the name')
    .option('--json', 'one array')
    .action(({ tenant: tenantId, query, json }: Options) =>
      inContext(async (context) => {
        await assertTenantIfGiven(context, tenantId);
        const groups = context.get(GroupAdministration);
        await printPages(
          pagesOf((limit, after?: GroupPlace) => groups.page(by, { query, tenantId }, limit, after)),
          json ? groupView : ({ id, tenantId: tenant, source, name }) => ({ id, tenant_id: tenant, source, name }),
          json,
        );
      }),
    );
  group
    .command('rename <id> <name>')
    .option('--json')
    .action((id: string, name: string, { json }: Options) =>
      withGroups(async (groups) => printRecord(groupView(await groups.rename(by, id, name)), json)),
    );
  group
    .command('delete <id>')
    .description('delete the group; its members stay users')
    .option('--json')
    .action((id: string, { json }: Options) =>
      withGroups(async (groups) => {
        await groups.remove(by, id);
        printRecord({ id, result: true }, json);
      }),
    );
  for (const [name, method] of [
    ['add-member', 'addMember'],
    ['remove-member', 'removeMember'],
  ] as const) {
    group
      .command(`${name} <id> <uid>`)
      .option('--json')
      .action((id: string, uid: string, { json }: Options) =>
        withGroups(async (groups) => printRecord({ id, uid, changed: await groups[method](by, id, uid) }, json)),
      );
  }
  group
    .command('members <id>')
    .description('print one line for each member, ordered by uid')
    .option('--json', 'one array')
    .action((id: string, { json }: Options) =>
      withGroups((groups) =>
        printPages(
          pagesOf((limit, after?: readonly [string]) => groups.membersOf(by, id, limit, after?.[0])),
          memberView,
          json,
        ),
      ),
    );
}
