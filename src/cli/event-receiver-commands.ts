import type { Command } from 'commander';
import { maxKeptSeconds } from '../admin/application-administration';
import { operatorAuthority } from '../admin/authority';
import { EventReceiverAdministration, type ReceiverWithSecret } from '../admin/event-receiver-administration';
import { definedFields, type ReceiverFields } from '../admin/event-receiver-rules';
import { receiverView } from '../admin/event-receiver-views';
import { receiverFormats } from '../events/event-receivers';
import { CliProblem, inContext, oneOf, printRecord, printRows, timeOption } from './cli-context';

interface Json {
  readonly json?: boolean;
}
interface FieldOptions extends Json {
  readonly url?: string;
  readonly format?: string;
  readonly type?: string[];
  readonly tenant?: string[];
  readonly audience?: string;
}

/** `event-receiver …`: further receivers of events, with the same use cases as `/admin/event-receivers`. */
export function addEventReceiverCommands(program: Command): void {
  const receiver = program.command('event-receiver').description('other systems that get events (EVENT_RECEIVERS=on)');

  withFields(
    receiver.command('create <id>').description('add a receiver and print its secret, which cannot be read again'),
  )
    .requiredOption('--url <url>', 'https')
    .action((id: string, options: FieldOptions) => {
      const fields = fieldsOf(options);
      return inContext(async (context) =>
        printWithSecret(await context.get(EventReceiverAdministration).create(operatorAuthority, id, fields), options),
      );
    });

  receiver
    .command('list')
    .description('print one line for each receiver')
    .option('--json', 'one array')
    .action(({ json }: Json) =>
      inContext(async (context) => {
        const views = (await context.get(EventReceiverAdministration).list()).map(receiverView);
        const lines = views.map(({ id, format, enabled, waiting, failing_since: failing, last_error: error }) => ({
          ...{ id, format, enabled, waiting, failing_since: failing, last_error: failing === null ? null : error },
        }));
        printRows(json ? views.map((view) => ({ ...view })) : lines, json);
      }),
    );

  receiver
    .command('show <id>')
    .description('print a receiver without its secret')
    .option('--json')
    .action((id: string, { json }: Json) =>
      inContext(async (context) =>
        printRecord({ ...receiverView(await context.get(EventReceiverAdministration).get(id)) }, json),
      ),
    );

  withFields(
    receiver
      .command('change <id>')
      .description('set the given fields; an option replaces a whole list, and an empty text clears it')
      .option('--url <url>', 'https'),
  ).action(async (id: string, options: FieldOptions) => {
    const fields = fieldsOf(options);
    if (Object.keys(fields).length === 0)
      throw new CliProblem('name at least one field, see event-receiver change --help');
    await change(id, fields, options);
  });

  for (const [name, enabled, what] of [
    ['pause', false, 'send nothing; events wait, at most 30 days'],
    ['resume', true, 'go on where the receiver was paused, or try one that fails now'],
  ] as const) {
    receiver
      .command(`${name} <id>`)
      .description(what)
      .option('--json')
      .action((id: string, options: Json) => change(id, { enabled }, options));
  }

  receiver
    .command('rotate-secret <id>')
    .description('print a new secret, which cannot be read again')
    .option('--keep-old-seconds <seconds>', `how long the former one signs as well, at most ${maxKeptSeconds}`, '0')
    .option('--json')
    .action((id: string, { keepOldSeconds, ...options }: Json & { keepOldSeconds: string }) => {
      const seconds = Number(keepOldSeconds);
      if (!/^\d{1,6}$/.test(keepOldSeconds) || seconds > maxKeptSeconds) {
        throw new CliProblem(`--keep-old-seconds must be a whole number from 0 to ${maxKeptSeconds}`);
      }
      return inContext(async (context) =>
        printWithSecret(
          await context.get(EventReceiverAdministration).rotateSecret(operatorAuthority, id, seconds),
          options,
        ),
      );
    });

  receiver
    .command('replay <id>')
    .description('send this receiver its events once more, from a time or an event on')
    .option('--from <time>', 'for example 2026-03-02T10:00:00Z')
    .option('--event <id>', 'the id of its first sending')
    .option('--json')
    .action((id: string, { from, event, json }: Json & { from?: string; event?: string }) => {
      const since = from === undefined ? undefined : timeOption('--from', from);
      return inContext(async (context) => {
        const replay = { from: since, event };
        const state = await context.get(EventReceiverAdministration).replay(operatorAuthority, id, replay);
        printRecord({ ...receiverView(state) }, json);
      });
    });

  receiver
    .command('test <id>')
    .description('post an event of the type webhook.test')
    .option('--json')
    .action((id: string, { json }: Json) =>
      inContext(async (context) => {
        const failure = await context.get(EventReceiverAdministration).test(operatorAuthority, id);
        if (failure !== undefined) throw new CliProblem(`the receiver has not accepted the event: ${failure}`);
        printRecord({ id, result: true }, json);
      }),
    );

  receiver
    .command('delete <id>')
    .description('delete a receiver, with its place')
    .option('--json')
    .action((id: string, { json }: Json) =>
      inContext(async (context) => {
        await context.get(EventReceiverAdministration).remove(operatorAuthority, id);
        printRecord({ id, result: true }, json);
      }),
    );
}

const change = (id: string, fields: Partial<ReceiverFields>, { json }: Json): Promise<void> =>
  inContext(async (context) => {
    const state = await context.get(EventReceiverAdministration).change(operatorAuthority, id, fields);
    printRecord({ ...receiverView(state) }, json);
  });

const withFields = (command: Command): Command =>
  command
    .option('--format <format>', receiverFormats.join(', '))
    .option('--type <type...>', 'only events of these types, or of a prefix such as user.*')
    .option('--tenant <id...>', 'only events about users of these tenants')
    .option('--audience <text>', 'the aud of a Security Event Token')
    .option('--json');

/** Only the options that are given: what is left out stays, or gets its default. */
function fieldsOf({ url, format, type, tenant, audience }: FieldOptions): Partial<ReceiverFields> {
  const list = (values: string[] | undefined) => values?.filter((value) => value !== '');
  const known = format === undefined ? undefined : oneOf('--format', format, receiverFormats);
  return definedFields({ url, format: known, types: list(type), tenants: list(tenant), audience });
}

function printWithSecret({ state, secret }: ReceiverWithSecret, { json }: Json): void {
  printRecord({ ...receiverView(state), secret }, json);
}
