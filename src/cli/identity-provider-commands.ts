import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { operatorAuthority } from '../admin/authority';
import { IdentityProviderAdministration, type ListedProvider } from '../admin/identity-provider-administration';
import { definedFields, type ProviderFields } from '../admin/identity-provider-rules';
import { providerView } from '../admin/identity-provider-views';
import { ProviderVerification } from '../admin/provider-verification';
import { ProviderAddresses } from '../identity-providers/provider-addresses';
import { CliProblem, inContext, printRecord, printRows } from './cli-context';
import { emptyInput, standardInput, textOfInput } from './input';

interface Json {
  readonly json?: boolean;
}

interface FieldOptions extends Json {
  readonly name?: string;
  readonly issuer?: string;
  readonly clientId?: string;
  readonly clientSecretFile?: string;
  /** False with `--no-client-secret`, true without it. */
  readonly clientSecret: boolean;
  readonly clientSecretExpires?: string;
  readonly scope?: string[];
  readonly acrValue?: string[];
  readonly domain?: string[];
  readonly tenant?: string;
  readonly jit?: boolean;
  readonly trustMfa?: boolean;
  readonly claimLoginName?: string;
  readonly claimEmail?: string;
  readonly claimNickname?: string;
  readonly claimGroups?: string;
  readonly matchClaim?: string;
  readonly listed?: boolean;
}

/** `idp …`: the identity providers at which people sign in, with the same use cases as `/admin/identity-providers`. */
export function addIdentityProviderCommands(program: Command): void {
  const idp = program.command('idp').description("companies' identity providers, at which people sign in");

  withFields(
    idp
      .command('add <id>')
      .description('add an identity provider, and print the addresses to register there')
      .requiredOption('--name <name>', 'what the button says')
      .requiredOption('--issuer <url>', 'exactly as the provider writes it')
      .requiredOption('--client-id <id>'),
  ).action(async (id: string, options: FieldOptions) => {
    const fields = await fieldsOf(options);
    await inContext(async (context) => {
      shown(context, await context.get(IdentityProviderAdministration).create(operatorAuthority, id, fields), options);
    });
  });

  withFields(
    idp
      .command('change <id>')
      .description('set the given fields; an option replaces a whole list, and an empty text clears it')
      .option('--name <name>')
      .option('--issuer <url>', 'only while the provider has no users')
      .option('--client-id <id>'),
  ).action(async (id: string, options: FieldOptions) => {
    const fields = await fieldsOf(options);
    if (Object.keys(fields).length === 0) throw new CliProblem('name at least one field, see idp change --help');
    await change(id, fields, options);
  });

  idp
    .command('list')
    .description('print one line for each identity provider, in the order of their ids')
    .option('--json', 'one array')
    .action(({ json }: Json) =>
      inContext(async (context) => {
        const addresses = context.get(ProviderAddresses);
        const views = (await context.get(IdentityProviderAdministration).list()).map((row) =>
          providerView(row, addresses),
        );
        const lines = views.map(({ id, enabled, bound_users, client_secret_expires, issuer, name }) => ({
          ...{ id, enabled, bound_users, client_secret_expires, issuer, name },
        }));
        printRows(json ? views.map((view) => ({ ...view })) : lines, json);
      }),
    );

  idp
    .command('show <id>')
    .description('print an identity provider without its secret')
    .option('--json')
    .action((id: string, options: Json) =>
      inContext(async (context) => {
        shown(context, await context.get(IdentityProviderAdministration).get(id), options);
      }),
    );

  idp
    .command('test <id>')
    .description('ask the provider for its discovery document and keys, and try the secret; nobody signs in')
    .option('--json')
    .action((id: string, { json }: Json) =>
      inContext(async (context) => {
        const { provider } = await context.get(IdentityProviderAdministration).get(id);
        const report = await context.get(ProviderVerification).report(provider);
        printRecord({ id, ...report, ...context.get(ProviderAddresses).of(id) }, json);
        if (report.problems.length > 0) throw new CliProblem(`the identity provider ${id} cannot be used as it is`);
      }),
    );

  for (const [name, description] of [
    ['disable', 'nobody signs in at the provider from now on; sessions that have begun go on'],
    ['enable', 'let people sign in at the provider again'],
  ] as const) {
    idp
      .command(`${name} <id>`)
      .description(description)
      .option('--json')
      .action((id: string, options: Json) => change(id, { enabled: name === 'enable' }, options));
  }

  idp
    .command('remove <id>')
    .description('delete an identity provider that has no users')
    .option('--json')
    .action((id: string, { json }: Json) =>
      inContext(async (context) => {
        await context.get(IdentityProviderAdministration).remove(operatorAuthority, id);
        printRecord({ id, result: true }, json);
      }),
    );
}

const change = (id: string, fields: Partial<ProviderFields>, options: Json): Promise<void> =>
  inContext(async (context) => {
    shown(context, await context.get(IdentityProviderAdministration).change(operatorAuthority, id, fields), options);
  });

function shown(context: INestApplicationContext, row: ListedProvider, { json }: Json): void {
  printRecord({ ...providerView(row, context.get(ProviderAddresses)) }, json);
}

const withFields = (command: Command): Command =>
  command
    .option('--client-secret-file <file>', 'the file of the secret, - for standard input')
    .option('--no-client-secret', 'a public client: PKCE alone')
    .option('--client-secret-expires <time>', 'when the provider ends it, such as 2027-01-31T00:00:00Z')
    .option('--scope <scope...>', 'openid profile email')
    .option('--acr-value <value...>', 'what a sign-in asks for')
    .option('--domain <domain...>', 'the domains of its people')
    .option('--tenant <id>', 'where --jit makes users')
    .option('--jit', 'the first sign-in of a person with an address in a --domain makes a user')
    .option('--no-jit')
    .option('--trust-mfa', 'the second factor of the provider is one here')
    .option('--no-trust-mfa')
    .option('--claim-login-name <name>')
    .option('--claim-email <name>')
    .option('--claim-nickname <name>')
    .option('--claim-groups <name>')
    .option('--match-claim <name>', 'compared with external_id of a user who has not signed in yet')
    .option('--listed', 'everybody sees its button')
    .option('--no-listed')
    .option('--json');

/** Only the options that are given: what is left out stays, or gets its default. */
async function fieldsOf(options: FieldOptions): Promise<Partial<ProviderFields>> {
  const list = (values: string[] | undefined) => values?.filter((value) => value !== '');
  const claims = Object.entries({
    login_name: options.claimLoginName,
    email: options.claimEmail,
    nickname: options.claimNickname,
    groups: options.claimGroups,
  }).filter(([, name]) => name !== undefined);
  return definedFields({
    name: options.name,
    issuer: options.issuer,
    client_id: options.clientId,
    client_secret: options.clientSecret ? await secretIn(options.clientSecretFile) : null,
    client_secret_expires: options.clientSecretExpires,
    scopes: list(options.scope),
    acr_values: list(options.acrValue),
    domains: list(options.domain),
    tenant_id: options.tenant,
    jit: options.jit,
    trust_mfa: options.trustMfa,
    claims: claims.length === 0 ? undefined : Object.fromEntries(claims),
    match_claim: options.matchClaim,
    listed: options.listed,
  });
}

async function secretIn(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const secret = await textOfInput(file);
  if (secret === '') throw new CliProblem(file === standardInput ? emptyInput : 'the file of the secret is empty');
  return secret;
}
