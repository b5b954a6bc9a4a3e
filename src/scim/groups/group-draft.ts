import type { Filter } from '../protocol/filter';
import { isObject, member, type Operation } from '../protocol/patch';
import { invalidPath, invalidSyntax, invalidValue } from '../protocol/scim-error';

/** What a request makes of a group. What is undefined stays as it is. */
export interface GroupEdit {
  readonly displayName?: string;
  readonly externalId?: string | null;
  readonly members?: MemberEdit;
}

/** All members, or those who join and those who leave. No user is named twice. */
export type MemberEdit =
  { readonly all: ReadonlySet<string> } | { readonly joins: ReadonlySet<string>; readonly leaves: ReadonlySet<string> };

/** The group of a POST or a PUT: attributes that are missing are removed (RFC 7644 §3.5.1). @throws ScimError */
export function groupOf(body: unknown): Required<GroupEdit> {
  if (!isObject(body)) throw invalidSyntax('the group must be an object');
  return {
    displayName: nameOf(member(body, 'displayname')),
    externalId: externalIdOf(member(body, 'externalid')),
    members: { all: new Set(uidsOf(member(body, 'members'))) },
  };
}

/**
 * The result of all operations of a PATCH, in their order. They change the same sets in place, so the time grows with the
 * number of members that are named, and not with its square.
 * @throws ScimError
 */
export function editOf(operations: readonly Operation[]): GroupEdit {
  let edit: GroupEdit = {};
  const members = new MemberChanges();
  for (const operation of operations) {
    const { operator, path, value } = operation;
    const given = operator === 'remove' ? null : value;
    if (path.attribute === 'displayname') edit = { ...edit, displayName: nameOf(given) };
    if (path.attribute === 'externalid') edit = { ...edit, externalId: externalIdOf(given) };
    if (path.attribute === 'members') apply(members, operation);
  }
  return { ...edit, members: members.edit };
}

function apply(members: MemberChanges, { operator, path, value }: Operation): void {
  const selected = path.within === undefined ? undefined : selectedBy(path.within);
  if (operator === 'remove') {
    // Entra ID names them in the value, and with its flag for compliance in the path. Neither of both means all members.
    const uids = selected ?? (value === undefined || value === null ? undefined : uidsOf(value));
    if (uids === undefined) members.set([]);
    else members.remove(uids);
    return;
  }
  // A filter that matches nothing: what it selects is what the operation makes.
  const uids = value === undefined ? (selected ?? []) : uidsOf(value);
  if (operator === 'replace' && selected === undefined) members.set(uids);
  else members.add(uids);
}

/** What the operations so far do to the members. `edit` is undefined until the first of them. */
class MemberChanges {
  private all: Set<string> | undefined;
  private changes: { readonly joins: Set<string>; readonly leaves: Set<string> } | undefined;

  get edit(): MemberEdit | undefined {
    return this.all === undefined ? this.changes : { all: this.all };
  }

  set(uids: readonly string[]): void {
    this.all = new Set(uids);
  }

  add(uids: readonly string[]): void {
    const { joins, leaves } = this.current();
    for (const uid of uids) {
      joins.add(uid);
      leaves?.delete(uid);
    }
  }

  remove(uids: readonly string[]): void {
    const { joins, leaves } = this.current();
    for (const uid of uids) {
      joins.delete(uid);
      leaves?.add(uid);
    }
  }

  private current(): { readonly joins: Set<string>; readonly leaves?: Set<string> } {
    if (this.all !== undefined) return { joins: this.all };
    return (this.changes ??= { joins: new Set(), leaves: new Set() });
  }
}

/** `members[value eq "…"]`, also several of them with `or`. @throws ScimError for any other filter */
function selectedBy(filter: Filter): string[] {
  if ('any' in filter) return filter.any.flatMap(selectedBy);
  const named = 'comparison' in filter && filter.attribute === 'value' && filter.comparison === 'eq';
  if (named && typeof filter.value === 'string') return [filter.value];
  throw invalidPath('members are selected by value eq "id"');
}

/** A list of members, one member, or an id. @throws ScimError */
function uidsOf(members: unknown): string[] {
  if (members === undefined || members === null) return [];
  const listed = (Array.isArray(members) ? members : [members]) as unknown[];
  return listed.map((one) => {
    const uid = typeof one === 'string' ? one : member(one, 'value');
    if (typeof uid === 'string' && uid !== '') return uid;
    throw invalidValue('a member has the id of a user as its value');
  });
}

function nameOf(value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw invalidValue('displayName is required');
}

function externalIdOf(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && value.length <= 255) return value;
  throw invalidValue('externalId must be a text of at most 255 characters');
}
