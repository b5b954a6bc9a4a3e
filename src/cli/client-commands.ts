import type { Command } from 'commander';
import { ServiceClients } from '../introspection/service-client.repository';
import { inContext, printRecord, printRows } from './cli-context';

interface Json {
  readonly json?: boolean;
}

/** `client`: the services behind the portal that may ask about tokens (docs/spec/extensions.md#f). */
export function addClientCommands(program: Command): void {
  const client = program.command('client').description('services that may ask about tokens (POST /introspect)');
  client
    .command('create')
    .description('create a client and print its secret, which cannot be read again')
    .argument('<name>', 'what the list shows, for example the name of the service')
    .option('--json')
    .action((name: string, { json }: Json) =>
      inContext(async (context) => printRecord({ ...(await context.get(ServiceClients).create(name)) }, json)),
    );
  client
    .command('list')
    .description('print one line for each client, the oldest first')
    .option('--json')
    .action(({ json }: Json) =>
      inContext(async (context) => {
        const clients = await context.get(ServiceClients).list();
        const rows = clients.map(({ id, name, createdAt, revokedAt }) => ({
          id,
          name,
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
