import type { Command } from 'commander';
import { applicationView } from '../admin/application-views';
import { ApplicationAdministration, maxKeptSeconds, type WithSecret } from '../admin/application-administration';
import { operatorAuthority } from '../admin/authority';
import {
  type ApplicationFields,
  applicationScopes,
  applicationTypes,
  definedOf,
} from '../applications/application-rules';
import { CliProblem, inContext, oneOf, printRecord, printRows } from './cli-context';

interface Json {
  readonly json?: boolean;
}

interface FieldOptions extends Json {
  readonly redirectUri?: string[];
  readonly postLogoutRedirectUri?: string[];
  readonly backchannelLogoutUri?: string;
  readonly scope?: string[];
  readonly audience?: string[];
  readonly firstParty?: boolean;
  readonly allowedTenant?: string[];
  readonly allowedGroup?: string[];
  readonly logoUrl?: string;
  readonly uri?: string;
}

/** `app …`: the applications that sign in here, with the same use cases as `/admin/applications`. */
export function addApplicationCommands(program: Command): void {
  const app = program.command('app').description('applications whose users sign in here (OpenID Connect)');

  withFields(
    app
      .command('create <name>')
      .description('register an application and print its client_secret, which cannot be read again')
      .requiredOption('--type <type>', `${applicationTypes.join(', ')}; it cannot be changed later`),
  ).action((name: string, { type, ...options }: FieldOptions & { type: string }) => {
    const known = oneOf('--type', type, applicationTypes);
    return inContext(async (context) => {
      const fields = { name, ...fieldsOf(options) };
      printWithSecret(await context.get(ApplicationAdministration).create(operatorAuthority, known, fields), options);
    });
  });

  app
    .command('list')
    .description('print one line for each application, the newest first')
    .option('--json', 'one array')
    .action(({ json }: Json) =>
      inContext(async (context) => {
        const views = (await context.get(ApplicationAdministration).list()).map(applicationView);
        const lines = views.map(({ id, type, enabled, name }) => ({ id, type, enabled, name }));
        printRows(json ? views.map((view) => ({ ...view })) : lines, json);
      }),
    );

  app
    .command('show <id>')
    .description('print an application without its secret')
    .option('--json')
    .action((id: string, { json }: Json) =>
      inContext(async (context) =>
        printRecord({ ...applicationView(await context.get(ApplicationAdministration).get(id)) }, json),
      ),
    );

  withFields(
    app
      .command('change <id>')
      .description('set the given fields; an option replaces a whole list, and an empty text clears it')
      .option('--name <name>'),
  ).action(async (id: string, { name, ...options }: FieldOptions & { name?: string }) => {
    const fields = { ...(name === undefined ? {} : { name }), ...fieldsOf(options) };
    if (Object.keys(fields).length === 0) throw new CliProblem('name at least one field, see app change --help');
    await change(id, fields, options);
  });

  app
    .command('rotate-secret <id>')
    .description('print a new client_secret, which cannot be read again')
    .option('--keep-old-seconds <seconds>', `how long the former one still works, at most ${maxKeptSeconds}`, '0')
    .option('--json')
    .action((id: string, { keepOldSeconds, ...options }: Json & { keepOldSeconds: string }) => {
      const seconds = Number(keepOldSeconds);
      if (!/^\d{1,6}$/.test(keepOldSeconds) || seconds > maxKeptSeconds) {
        throw new CliProblem(`--keep-old-seconds must be a whole number from 0 to ${maxKeptSeconds}`);
      }
      return inContext(async (context) =>
        printWithSecret(
          await context.get(ApplicationAdministration).rotateSecret(operatorAuthority, id, seconds),
          options,
        ),
      );
    });

  app
    .command('disable <id>')
    .description('refuse the application and its tokens from now on')
    .option('--json')
    .action((id: string, options: Json) => change(id, { enabled: false }, options));

  app
    .command('enable <id>')
    .description('accept the application again, and its tokens that have not expired')
    .option('--json')
    .action((id: string, options: Json) => change(id, { enabled: true }, options));

  app
    .command('delete <id>')
    .description('delete the application; its tokens end')
    .option('--json')
    .action((id: string, { json }: Json) =>
      inContext(async (context) => {
        await context.get(ApplicationAdministration).remove(operatorAuthority, id);
        printRecord({ id, result: true }, json);
      }),
    );
}

const change = (id: string, fields: Partial<ApplicationFields>, { json }: Json): Promise<void> =>
  inContext(async (context) =>
    printRecord(
      { ...applicationView(await context.get(ApplicationAdministration).change(operatorAuthority, id, fields)) },
      json,
    ),
  );

const withFields = (command: Command): Command =>
  command
    .option('--redirect-uri <uri...>', 'compared exactly')
    .option('--post-logout-redirect-uri <uri...>', 'where a browser may be sent after the log-out')
    .option('--backchannel-logout-uri <uri>', 'told when a session ends')
    .option('--scope <scope...>', applicationScopes.join(', '))
    .option('--audience <uri...>', 'resources for which it may ask tokens')
    .option('--first-party', 'of the company itself: no consent is asked')
    .option('--no-first-party', 'users are asked for consent')
    .option('--allowed-tenant <id...>', 'only users of these tenants')
    .option('--allowed-group <id...>', 'only members of one of these groups')
    .option('--logo-url <url>')
    .option('--uri <url>', 'where its tile on the account page leads')
    .option('--json');

/** Only the options that are given: what is left out stays, or gets its default. */
function fieldsOf(options: FieldOptions): Partial<ApplicationFields> {
  const list = (values: string[] | undefined) => values?.filter((value) => value !== '');
  return definedOf({
    redirect_uris: list(options.redirectUri),
    post_logout_redirect_uris: list(options.postLogoutRedirectUri),
    backchannel_logout_uri: options.backchannelLogoutUri,
    scopes: list(options.scope),
    audience: list(options.audience),
    first_party: options.firstParty,
    allowed_tenants: list(options.allowedTenant),
    allowed_groups: list(options.allowedGroup),
    logo_url: options.logoUrl,
    uri: options.uri,
  });
}

function printWithSecret({ application, secret }: WithSecret, { json }: Json): void {
  printRecord({ ...applicationView(application), client_secret: secret }, json);
}
