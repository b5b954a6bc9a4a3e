import { domainToASCII } from 'node:url';
import { backchannelUriProblem } from '../applications/application-uris';
import type { IdentityProvider } from '../identity-providers/identity-provider.entity';
import { rootTenant } from '../platform/settings/system-settings';
import { isPlainText, plainTextRule } from '../shared/plain-text';
import { storable, timeOfText } from '../shared/time-text';

/** The claims that give the fields of a user. Null: the field is not taken from the provider. */
export interface ClaimNames {
  readonly login_name: string;
  readonly email: string | null;
  readonly nickname: string | null;
  readonly groups: string | null;
}
export const claimMembers = ['login_name', 'email', 'nickname', 'groups'] as const satisfies (keyof ClaimNames)[];

/** What can be changed of an identity provider, by the names of the wire. The id is chosen once: it is part of addresses. */
export interface ProviderFields {
  readonly name: string;
  readonly issuer: string;
  readonly client_id: string;
  /** Null: a public client, which has PKCE only. */
  readonly client_secret: string | null;
  readonly client_secret_expires: string | null;
  readonly scopes: readonly string[];
  readonly acr_values: readonly string[];
  readonly domains: readonly string[];
  readonly tenant_id: string;
  readonly jit: boolean;
  readonly trust_mfa: boolean;
  /** Members that are not given keep their value. */
  readonly claims: Partial<ClaimNames>;
  readonly match_claim: string | null;
  readonly listed: boolean;
  readonly enabled: boolean;
}
type Field = keyof ProviderFields;

/** An identity provider that cannot be stored as given. Entries of lists are named with their index, for example `domains[1]`. */
export class ProviderProblem extends Error {
  override readonly name = 'ProviderProblem';

  constructor(readonly fields: Readonly<Record<string, readonly string[]>>) {
    super(Object.values(fields).flat().join('; '));
  }
}

/** The change is not possible while users sign in at the provider (APP_400001). */
export class ProviderInUse extends ProviderProblem {
  constructor(field: string, what: string) {
    super({ [field]: [`${field} ${what}`] });
  }
}

/** The problem of one field: its sentence begins with the name of the field. */
export const providerProblem = (field: string, what: string) => new ProviderProblem({ [field]: [`${field} ${what}`] });

/** The columns that the fields of the wire set. `clientSecret` is not sealed yet. */
export type CheckedFields = Partial<Omit<IdentityProvider, 'id' | 'createdAt' | 'changedAt' | 'claims'>> & {
  readonly claims?: Partial<ClaimNames>;
};

const claimsByDefault: ClaimNames = {
  login_name: 'preferred_username',
  email: 'email',
  nickname: 'name',
  groups: null,
};

/** All fields of a new identity provider, with the defaults of those that are not given. */
export function newProviderFields(given: Partial<ProviderFields>): ProviderFields {
  return {
    name: '',
    issuer: '',
    client_id: '',
    client_secret: null,
    client_secret_expires: null,
    scopes: ['openid', 'profile', 'email'],
    acr_values: [],
    domains: [],
    tenant_id: rootTenant,
    jit: false,
    trust_mfa: false,
    match_claim: null,
    listed: true,
    enabled: true,
    ...definedFields(given),
    claims: { ...claimsByDefault, ...given.claims },
  };
}

/** Without the fields that are undefined. */
export const definedFields = (given: Partial<ProviderFields>): Partial<ProviderFields> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/** @throws ProviderProblem */
export function assertProviderId(id: string): void {
  if (!/^[a-z0-9-]{1,40}$/.test(id)) {
    throw providerProblem('id', 'must have 1 to 40 characters out of a-z, 0-9 and -: it is part of the redirect URI');
  }
}

type Report = (at: string, problem: string | undefined) => void;
/** @returns what is wrong, or undefined */
type Rule = (value: string) => string | undefined;

const lists: Readonly<Record<string, { readonly property: keyof CheckedFields; readonly most: number; rule: Rule }>> = {
  scopes: { property: 'scopes', most: 20, rule: tokenProblem },
  acr_values: { property: 'acrValues', most: 10, rule: tokenProblem },
  domains: { property: 'domains', most: 100, rule: domainProblem },
};
const flags = { jit: 'jit', trust_mfa: 'trustMfa', listed: 'listed', enabled: 'enabled' } as const;

/**
 * The columns of the fields that are given. Whether the tenant exists, and whether another provider has a domain, is for
 * the database.
 * @throws ProviderProblem that names everything that is wrong
 */
export function checkedProviderFields(
  given: Partial<ProviderFields>,
  { production }: { readonly production: boolean },
): CheckedFields {
  const problems: Record<string, string[]> = {};
  const report: Report = (at, problem) => {
    if (problem !== undefined) problems[at] = [`${at} ${problem}`];
  };
  const stored: Record<string, unknown> = {};
  const readers: { readonly [F in Field]?: (value: never) => unknown } = {
    name: (text: string) => checkedText('name', text.trim(), namedProblem, report),
    issuer: (text: string) => checkedText('issuer', text, (value) => issuerProblem(value, production), report),
    client_id: (text: string) => checkedText('client_id', text, (value) => visibleProblem(value, 255), report),
    client_secret: (text: string | null) =>
      // An empty text clears the field, as in a form.
      text ? checkedText('client_secret', text, (value) => visibleProblem(value, 4096), report) : null,
    client_secret_expires: (text: string | null) => (text ? checkedTime('client_secret_expires', text, report) : null),
    tenant_id: (id: string) => id,
    match_claim: (text: string | null) => (text ? checkedText('match_claim', text, claimProblem, report) : null),
    claims: (claims: Partial<ClaimNames>) => checkedClaims(claims, report),
  };
  for (const [field, value] of Object.entries(definedFields(given)) as [Field, never][]) {
    const list = lists[field];
    if (field in flags) stored[flags[field as keyof typeof flags]] = value;
    else if (list !== undefined) stored[list.property] = checkedList(field, value, list, report);
    else stored[propertyOf(field)] = readers[field]!(value);
  }
  if (given.scopes !== undefined && !given.scopes.includes('openid')) {
    report('scopes', 'must contain openid: without it the provider gives no ID token');
  }
  if (Object.keys(problems).length > 0) throw new ProviderProblem(problems);
  return stored;
}

const propertyOf = (field: string): string => field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

function checkedText(at: string, text: string, rule: Rule, report: Report): string {
  report(at, rule(text));
  return text;
}

function checkedTime(at: string, text: string, report: Report): Date | null {
  const time = timeOfText(text);
  if (time === undefined || storable(time) !== time) report(at, 'must be a time such as 2027-01-31T00:00:00Z');
  return time ?? null;
}

function checkedList(
  field: string,
  given: readonly unknown[],
  { most, rule }: { readonly most: number; readonly rule: Rule },
  report: Report,
): unknown[] {
  const entries = given.map((entry) =>
    typeof entry === 'string' && field === 'domains' ? normalDomain(entry) : entry,
  );
  if (entries.length > most) report(field, `must have at most ${most} entries`);
  else
    entries.forEach((entry, i) => {
      const at = `${field}[${i}]`;
      const first = entries.indexOf(entry);
      if (typeof entry !== 'string' || entry === '') report(at, 'must be a text');
      else report(at, first < i ? `repeats the entry ${first}` : rule(entry));
    });
  return entries;
}

function checkedClaims(claims: Partial<ClaimNames>, report: Report): Partial<ClaimNames> {
  const stored: Partial<Record<keyof ClaimNames, string | null>> = {};
  for (const [member, value] of Object.entries(claims) as [keyof ClaimNames, unknown][]) {
    const at = `claims.${member}`;
    if (!claimMembers.includes(member)) report(at, `is not one of ${claimMembers.join(', ')}`);
    else if (value === null || value === '') {
      if (member === 'login_name') report(at, 'must be the name of a claim');
      stored[member] = null;
    } else if (value !== undefined) {
      report(at, typeof value === 'string' ? claimProblem(value) : 'must be a text');
      stored[member] = value as string;
    }
  }
  return stored as Partial<ClaimNames>;
}

const namedProblem: Rule = (text) =>
  text === '' || text.length > 255 || !isPlainText(text)
    ? `must have 1 to 255 characters and ${plainTextRule}`
    : undefined;

/** What the provider writes into `iss`, so it is compared exactly (RFC 8414 section 2). */
function issuerProblem(text: string, production: boolean): string | undefined {
  if (text.length > 512) return 'must have at most 512 characters';
  const problem = backchannelUriProblem(text, { type: 'web', production });
  if (problem !== undefined) return problem;
  return text.includes('?') ? 'must not have a query' : undefined;
}

/** RFC 6749 appendix A: ASCII that can be seen, and the space. */
const visibleProblem = (text: string, most: number): string | undefined =>
  text.length > most || !/^[\x20-\x7e]*[\x21-\x7e][\x20-\x7e]*$/.test(text)
    ? `must have 1 to ${most} printable ASCII characters`
    : undefined;

/** RFC 6749 section 3.3: the entries of a list that is sent with spaces between them. */
function tokenProblem(text: string): string | undefined {
  return text.length <= 255 && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text)
    ? undefined
    : 'must have 1 to 255 printable ASCII characters without spaces, quotation marks and backslashes';
}

/** A name, never a path: what stands in the answer under exactly this key. */
function claimProblem(text: string): string | undefined {
  return text.length <= 255 && isPlainText(text) && text.trim() === text && text !== ''
    ? undefined
    : 'must be the name of a claim: 1 to 255 characters without spaces at its ends';
}

/** The form in which a domain is stored. */
export const normalDomain = (text: string): string => domainToASCII(text.trim()) || text;

function domainProblem(text: string): string | undefined {
  const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
  const labels = text.split('.');
  return text.length <= 253 && labels.length > 1 && labels.every((one) => label.test(one))
    ? undefined
    : 'must be a domain such as example.com';
}
