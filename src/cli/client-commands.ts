import type { Command } from 'commander';
import { ServiceClientProblem, ServiceClients } from '../introspection/service-client.repository';
import { inContext, printRecord, printRows } from './cli-context';

interface Json {
  readonly json?: boolean;
}

interface NewClient extends Json {
  readonly scim?: boolean;
  readonly tenant?: string;
}

/**
 * `client`: the services behind the portal that may ask about tokens (docs/spec/extensions.md#f), and those that provision users
 * by SCIM (docs/spec/extensions.md#l).
 */
export function addClientCommands(program: Command): void {
  const client = program
    .command('client')
    .description('services that ask about tokens (POST /introspect), or provision users (SCIM)');
  client
    .command('create')
    .description('create a client and print its secret, which cannot be read again')
    .argument('<name>', 'what the list shows, for example the name of the service')
    .option('--scim', 'provisions users and groups by SCIM, and prints a bearer token instead of a secret')
    .option('--tenant <id>', 'with --scim: reaches only the users and groups of this tenant')
    .option('--json')
    .action((name: string, { scim, tenant, json }: NewClient) =>
      inContext(async (context) => {
        if (tenant !== undefined && !scim) throw new ServiceClientProblem('--tenant needs --scim');
        const clients = context.get(ServiceClients);
        const created = scim ? clients.createScim(name, { tenantId: tenant }) : clients.create(name);
        printRecord({ ...(await created) }, json);
      }),
    );
  client
    .command('list')
    .description('print one line for each client, the oldest first')
    .option('--json')
    .action(({ json }: Json) =>
      inContext(async (context) => {
        const clients = await context.get(ServiceClients).list();
        const rows = clients.map(({ id, name, scim, tenantId, createdAt, revokedAt }) => ({
          id,
          name,
          scim,
          tenant: tenantId,
          created_at: createdAt.toISOString(),
          revoked_at: revokedAt?.toISOString() ?? null,
        }));
        printRows(rows, json);
      }),
    );
  client
    .command('revoke')
    .description('refuse the client from now on')
    .argument('<id>')
    .option('--json')
    .action((id: string, { json }: Json) =>
      // `revoked` is false when the client had been revoked before.
      inContext(async (context) => printRecord({ id, revoked: await context.get(ServiceClients).revoke(id) }, json)),
    );
}
