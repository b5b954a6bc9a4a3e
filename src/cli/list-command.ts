import { type Command, InvalidArgumentError } from 'commander';
import type { Provider } from '../users/user.entity';
import { type ListedUser, UserListing } from '../users/user-listing';
import { wired } from '../users/user-wire';
import { assertTenantIfGiven, inContext, oneOf, statusOf } from './cli-context';
import { printPages } from './printed-pages';

interface Options {
  limit?: number;
  status?: string;
  tenant?: string;
  provider?: string;
  query?: string;
  locked?: true;
  json?: boolean;
}

/** `user list`: prints one page at a time, as fast as the reader reads, and ends when the reader closes the pipe. */
export function addListCommand(user: Command): void {
  user
    .command('list')
    .description('print one line for each account, ordered by login name')
    .option('--limit <number>', 'the greatest number of accounts', count)
    .option(
      '--query <words>',
      'words of the login name, e-mail address or nickname in any order; each by its beginning',
    )
    .option('--status <status>', '1 enabled, 0 not enabled, -1 disabled, -2 expired')
    .option('--tenant <id>')
    .option('--provider <provider>', 'password, ldap or oidc')
    .option('--locked', 'only accounts that are locked now after failed logins')
    .option('--json', 'one array')
    .action((options: Options) => {
      const { limit, status, tenant, provider, query, locked, json } = options;
      const filter = {
        query,
        status: status === undefined ? undefined : statusOf(status),
        tenantId: tenant,
        provider:
          provider === undefined ? undefined : oneOf<Provider>('--provider', provider, ['password', 'ldap', 'oidc']),
        locked,
      };
      return inContext(async (context) => {
        await assertTenantIfGiven(context, tenant);
        await printPages(context.get(UserListing).pages(filter, limit), view, json);
      });
    });
}

const view = (user: ListedUser) => wired(user, ['uid', 'loginName', 'email', 'status', 'provider']);

function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number of at least 1');
  return Number(text);
}
