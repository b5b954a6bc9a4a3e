import { webAddressProblem } from '../applications/application-uris';
import { isTypeFilter, receiverFormats, type ReceiverFormat, type ReceiverValues } from '../events/event-receivers';
import { isPlainText, plainTextRule } from '../shared/plain-text';

/** What can be changed of a receiver, by the names of the wire. */
export interface ReceiverFields {
  readonly url: string;
  readonly format: ReceiverFormat;
  readonly types: readonly string[];
  readonly tenants: readonly string[];
  readonly audience: string | null;
  readonly enabled: boolean;
}

/** A receiver that cannot be stored as given. Entries of lists are named with their index, for example `types[1]`. */
export class ReceiverProblem extends Error {
  override readonly name = 'ReceiverProblem';

  constructor(readonly fields: Readonly<Record<string, readonly string[]>>) {
    super(Object.values(fields).flat().join('; '));
  }
}

/** The problem of one field: its sentence begins with the name of the field. */
export const receiverProblem = (field: string, what: string) => new ReceiverProblem({ [field]: [`${field} ${what}`] });

const most = { types: 50, tenants: 100 };

export const newReceiverFields = (given: Partial<ReceiverFields>): ReceiverFields => ({
  ...{ url: '', format: 'native', types: [], tenants: [], audience: null, enabled: true },
  ...definedFields(given),
});

export const definedFields = (given: Partial<ReceiverFields>): Partial<ReceiverFields> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/** The id names the receiver in metrics. `default` is the receiver of `WEBHOOK_URL`. @throws ReceiverProblem */
export function assertReceiverId(id: string): void {
  if (!/^[a-z0-9-]{1,40}$/.test(id)) throw receiverProblem('id', 'must have 1 to 40 characters out of a-z, 0-9 and -');
  if (id === 'default') throw receiverProblem('id', 'default is the receiver of WEBHOOK_URL: choose another id');
}

interface Place {
  readonly production: boolean;
  /** Whether the service has a key that receivers can look up. */
  readonly signsTokens: boolean;
}

/** Whether the tenants exist is for the database. @throws ReceiverProblem that names everything that is wrong */
export function checkedReceiverFields(given: Partial<ReceiverFields>, place: Place): Partial<ReceiverValues> {
  const problems: Record<string, string[]> = {};
  const report = (at: string, problem: string | undefined) => {
    if (problem !== undefined) problems[at] = [`${at} ${problem}`];
  };
  const { url, format, audience, types, tenants } = given;
  if (url !== undefined) report('url', urlProblem(url, place));
  if (format !== undefined) report('format', formatProblem(format, place));
  if (audience) report('audience', audienceProblem(audience));
  for (const [field, values] of Object.entries({ types, tenants })) {
    if (values === undefined) continue;
    const limit = most[field as keyof typeof most];
    if (values.length > limit) report(field, `must have at most ${limit} entries`);
    if (new Set(values).size < values.length) report(field, 'must not have an entry twice');
  }
  types?.forEach((type, i) => report(`types[${i}]`, typeProblem(type)));
  tenants?.forEach((tenant, i) => {
    if (typeof tenant !== 'string') report(`tenants[${i}]`, 'must be a text');
  });
  if (Object.keys(problems).length > 0) throw new ReceiverProblem(problems);
  // An empty text clears the field, as in a form.
  return {
    ...(definedFields(given) as Partial<ReceiverValues>),
    ...(audience === undefined ? {} : { audience: audience || null }),
  };
}

function urlProblem(text: string, { production }: Place): string | undefined {
  const problem = webAddressProblem(text, { type: 'web', production });
  if (problem !== undefined) return problem;
  const { username, password, hash } = new URL(text);
  return username + password + hash === '' ? undefined : 'must have no user name, no password and no fragment (#)';
}

function formatProblem(format: ReceiverFormat, { signsTokens }: Place): string | undefined {
  if (!receiverFormats.includes(format)) return `must be one of ${receiverFormats.join(', ')}`;
  return format !== 'set' || signsTokens ? undefined : 'cannot be set while OIDC is off: receivers look up its keys';
}

function audienceProblem(text: string): string | undefined {
  if (text.length > 255 || !isPlainText(text)) return `must have at most 255 characters and ${plainTextRule}`;
  return undefined;
}

function typeProblem(type: unknown): string | undefined {
  if (typeof type === 'string' && isTypeFilter(type)) return undefined;
  return 'is no type of an event: give one such as user.deleted, or a prefix such as user.*';
}
