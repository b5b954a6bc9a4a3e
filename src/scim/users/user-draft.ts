import type { Filter, FilterValue } from '../protocol/filter';
import { isObject, member, type Operation } from '../protocol/patch';
import { invalidSyntax, invalidValue } from '../protocol/scim-error';
import { schemas } from '../protocol/schemas';

/** The attributes of a user that this service stores. All others are ignored, also a password. */
export interface UserDraft {
  readonly userName: string | null;
  readonly externalId: string | null;
  readonly displayName: string | null;
  readonly active: boolean;
  /**
   * A PATCH names `active: false`, so the person leaves, also one who was only disabled. A PUT repeats what its client has read: there
   * only a difference counts.
   */
  readonly leaves?: boolean;
  /** The only address: it is `work` and primary. */
  readonly email: string | null;
  /** The id or the name of an organisation unit. */
  readonly department: string | null;
}

const emptyDraft: UserDraft = {
  ...{ userName: null, externalId: null, displayName: null, active: true, email: null, department: null },
};

/**
 * The user of a POST or a PUT. Attributes that are missing are removed (RFC 7644 §3.5.1), but a user of a PUT without `active`
 * stays as active as before. @throws ScimError `invalidValue`
 */
export function draftOf(body: unknown, former?: UserDraft): UserDraft {
  if (!isObject(body)) throw invalidSyntax('the user must be an object');
  const [active, emails] = [member(body, 'active'), member(body, 'emails')];
  const extension = member(body, schemas.enterprise.toLowerCase());
  const draft: UserDraft = {
    userName: text('userName', member(body, 'username')),
    externalId: text('externalId', member(body, 'externalid')),
    displayName: text('displayName', member(body, 'displayname')),
    active: active === undefined || active === null ? (former?.active ?? true) : flag(active),
    email: emails === undefined || emails === null ? null : addressOf(emails),
    department: text('department', member(extension, 'department')),
  };
  return { ...emptyDraft, ...draft };
}

/** The user after the operations of a PATCH, in their order. @throws ScimError `invalidValue` */
export function patched(draft: UserDraft, operations: readonly Operation[]): UserDraft {
  return operations.reduce((before, operation) => ({ ...before, ...effectOf(before, operation) }), draft);
}

function effectOf(draft: UserDraft, { operator, path, value }: Operation): Partial<UserDraft> {
  const given = operator === 'remove' ? null : value;
  switch (path.attribute) {
    case 'username':
      return { userName: text('userName', given) };
    case 'externalid':
      return { externalId: text('externalId', given) };
    case 'displayname':
      return { displayName: text('displayName', given) };
    case 'active':
      // A user without the attribute is neither active nor not: it keeps what it is.
      return given === null || given === undefined ? {} : activity(flag(given));
    case 'enterprise':
      return path.sub === undefined || path.sub === 'department' ? { department: text('department', given) } : {};
    case 'emails':
      return emailEffect(draft, { operator, path, value });
    default:
      return {};
  }
}

/**
 * There is one address. A filter selects it, or the one that the operation makes: Entra ID sends Add and Replace for
 * `emails[type eq "work"].value` of a user without an address. Other types of addresses are attributes that are not stored.
 */
function emailEffect({ email }: UserDraft, { operator, path: { within, sub }, value }: Operation): Partial<UserDraft> {
  if (sub !== undefined && sub !== 'value') return {};
  if (operator === 'remove') {
    const selected = within === undefined ? isNamed(value, email) : selects(within, email);
    return selected ? { email: null } : {};
  }
  const address = sub === 'value' ? text('emails.value', value) : addressOf(value);
  if (within !== undefined && !selects(within, email) && !selects(within, address)) return {};
  return operator === 'add' && address === null ? {} : { email: address };
}

/** Without a value, a removal is about all addresses; otherwise about those that it names. */
function isNamed(value: unknown, email: string | null): boolean {
  if (value === undefined || value === null) return true;
  const listed = Array.isArray(value) ? value : [value];
  return email !== null && listed.some((one) => word(member(one, 'value') ?? one) === email.toLowerCase());
}

/** Of several addresses the primary one, else the one of work, else the first. */
function addressOf(emails: unknown): string | null {
  const listed = (Array.isArray(emails) ? emails : [emails]) as unknown[];
  const of = (test: (email: unknown) => boolean) => listed.find(test);
  const chosen =
    of((one) => isTrue(member(one, 'primary'))) ?? of((one) => word(member(one, 'type')) === 'work') ?? listed[0];
  return text('emails.value', typeof chosen === 'string' ? chosen : member(chosen, 'value'));
}

const isTrue = (value: unknown): boolean => value === true || word(value) === 'true';

/** Undefined for anything but a text. `String` throws for an object of JSON whose `toString` is null. */
const word = (value: unknown): string | undefined => (typeof value === 'string' ? value.toLowerCase() : undefined);

/** Whether a filter selects the address, which is that of work, and primary. */
function selects(filter: Filter, email: string | null): boolean {
  if ('all' in filter) return filter.all.every((one) => selects(one, email));
  if ('any' in filter) return filter.any.some((one) => selects(one, email));
  if ('not' in filter) return !selects(filter.not, email);
  const stored = storedOf(filter.attribute, email);
  if ('present' in filter) return stored !== null && stored !== undefined;
  if (!('comparison' in filter)) return false;
  return compares(stored, filter.comparison, filter.value);
}

function storedOf(attribute: string, email: string | null): string | boolean | null | undefined {
  if (attribute === 'value') return email;
  if (attribute === 'type') return 'work';
  return attribute === 'primary' ? true : undefined;
}

function compares(stored: string | boolean | null | undefined, comparison: string, value: FilterValue): boolean {
  const [is, wanted] = [String(stored ?? '').toLowerCase(), String(value ?? '').toLowerCase()];
  switch (comparison) {
    case 'eq':
      return is === wanted;
    case 'ne':
      return is !== wanted;
    case 'co':
      return is.includes(wanted);
    case 'sw':
      return is.startsWith(wanted);
    case 'ew':
      return is.endsWith(wanted);
    default:
      return false;
  }
}

/** An empty text is no value (RFC 7643 §2.5). @throws ScimError */
function text(name: string, value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string') throw invalidValue(`${name} must be a text`);
  return value;
}

const activity = (active: boolean) => ({ active, leaves: !active });

/** Entra ID sends "True" and "False". @throws ScimError */
function flag(value: unknown): boolean {
  const word = typeof value === 'string' ? value.toLowerCase() : value;
  if (word === true || word === 'true') return true;
  if (word === false || word === 'false') return false;
  throw invalidValue('active must be true or false');
}
