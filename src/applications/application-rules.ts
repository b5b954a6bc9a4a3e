import { isPlainText, plainTextRule } from '../shared/plain-text';
import type { Application, ApplicationType } from './application.entity';
import {
  backchannelUriProblem,
  redirectUriProblem,
  resourceProblem,
  type UriPlace,
  webAddressProblem,
} from './application-uris';

/** `web` and `service` run on servers, which keep a secret. */
export const applicationTypes = ['web', 'spa', 'native', 'service'] as const satisfies readonly ApplicationType[];
export const keepsSecret = (type: ApplicationType): boolean => type === 'web' || type === 'service';

export const applicationScopes = ['openid', 'profile', 'email', 'organization', 'groups', 'offline_access'] as const;
const scopesByDefault = ['openid', 'profile', 'email'];

/** What can be changed of an application, by the names of the wire. The type is chosen once: the secret depends on it. */
export interface ApplicationFields {
  readonly name: string;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris: readonly string[];
  readonly backchannel_logout_uri: string | null;
  readonly scopes: readonly string[];
  readonly audience: readonly string[];
  readonly first_party: boolean;
  readonly allowed_tenants: readonly string[];
  readonly allowed_groups: readonly string[];
  readonly logo_url: string | null;
  readonly uri: string | null;
  readonly enabled: boolean;
}

type Field = keyof ApplicationFields;
type Stored = Partial<Omit<Application, 'id' | 'type'>>;
/** @returns what is wrong, or undefined */
type Rule = (value: string, place: UriPlace) => string | undefined;

/** An application that cannot be stored as given. Entries of lists are named with their index, for example `scopes[1]`. */
export class ApplicationProblem extends Error {
  override readonly name = 'ApplicationProblem';

  constructor(readonly fields: Readonly<Record<string, readonly string[]>>) {
    super(Object.values(fields).flat().join('; '));
  }
}

const lists: Readonly<Record<string, { readonly property: keyof Stored; readonly most: number; readonly rule: Rule }>> =
  {
    redirect_uris: { property: 'redirectUris', most: 20, rule: redirectUriProblem },
    post_logout_redirect_uris: { property: 'postLogoutRedirectUris', most: 20, rule: redirectUriProblem },
    scopes: { property: 'scopes', most: 20, rule: scopeProblem },
    audience: { property: 'audience', most: 20, rule: resourceProblem },
    allowed_tenants: { property: 'allowedTenants', most: 100, rule: () => undefined },
    allowed_groups: { property: 'allowedGroups', most: 100, rule: () => undefined },
  };
const texts: Readonly<Record<string, { readonly property: keyof Stored; readonly rule: Rule }>> = {
  backchannel_logout_uri: { property: 'backchannelLogoutUri', rule: backchannelUriProblem },
  logo_url: { property: 'logoUrl', rule: webAddressProblem },
  uri: { property: 'uri', rule: webAddressProblem },
};
const flags: Readonly<Record<string, keyof Stored>> = { first_party: 'firstParty', enabled: 'enabled' };

/** What only an application with users has. */
const ofUsers: readonly Field[] = [
  'redirect_uris',
  'post_logout_redirect_uris',
  'backchannel_logout_uri',
  'allowed_tenants',
  'allowed_groups',
  'uri',
];

/** All fields of a new application, with the defaults of those that are not given. */
export function newApplicationFields(type: ApplicationType, given: Partial<ApplicationFields>): ApplicationFields {
  return {
    name: '',
    redirect_uris: [],
    post_logout_redirect_uris: [],
    backchannel_logout_uri: null,
    scopes: type === 'service' ? [] : scopesByDefault,
    audience: [],
    first_party: false,
    allowed_tenants: [],
    allowed_groups: [],
    logo_url: null,
    uri: null,
    enabled: true,
    ...definedOf(given),
  };
}

/** Without the fields that are undefined. */
export const definedOf = (given: Partial<ApplicationFields>): Partial<ApplicationFields> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/**
 * The columns of the fields that are given. No rule needs two fields, so two changes of different fields never make a row
 * together that no rule allows. Whether the tenants and groups exist is for the database.
 * @throws ApplicationProblem that names everything that is wrong
 */
export function checkedFields(given: Partial<ApplicationFields>, place: UriPlace): Stored {
  const problems: Record<string, string[]> = {};
  const report = (at: string, problem: string | undefined): void => {
    if (problem !== undefined) problems[at] = [`${at} ${problem}`];
  };
  const stored: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(definedOf(given)) as [Field, unknown][]) {
    if (field === 'name') stored.name = named(value as string, report);
    if (field in flags) stored[flags[field]!] = value;
    if (field in texts) {
      const { property, rule } = texts[field]!;
      // An empty text clears the field, as in a form.
      stored[property] = value || null;
      if (value) report(field, rule(value as string, place));
    }
    if (field in lists) {
      const { property, most, rule } = lists[field]!;
      const entries = value as readonly unknown[];
      stored[property] = entries;
      if (entries.length > most) report(field, `must have at most ${most} entries`);
      else
        entries.forEach((entry, i) =>
          report(
            `${field}[${i}]`,
            entryProblem(entries, i, () => rule(entry as string, place)),
          ),
        );
    }
    if (ofUsers.includes(field) && place.type === 'service' && hasContent(value)) {
      report(field, 'must be empty: a service has no users');
    }
    const needed = field === 'redirect_uris' && (place.type === 'web' || place.type === 'spa') && !hasContent(value);
    if (needed) report(field, 'must have at least one entry');
  }
  if (Object.keys(problems).length > 0) throw new ApplicationProblem(problems);
  return stored;
}

function named(text: string, report: (at: string, problem: string) => void): string {
  const name = text.trim();
  if (name === '' || name.length > 255 || !isPlainText(name)) {
    report('name', `must have 1 to 255 characters and ${plainTextRule}`);
  }
  return name;
}

function entryProblem(entries: readonly unknown[], i: number, problem: () => string | undefined): string | undefined {
  const entry = entries[i];
  if (typeof entry !== 'string' || entry === '') return 'must be a text';
  const first = entries.indexOf(entry);
  return first < i ? `repeats the entry ${first}` : problem();
}

/** A scope of a resource has a colon, so that a misspelt `offline_acess` is not taken for one. */
const resourceScope = /^[\w.~/-]+(:[\w.~/-]+)+$/;

function scopeProblem(scope: string, { type }: UriPlace): string | undefined {
  if (resourceScope.test(scope) && scope.length <= 128) return undefined;
  const known: readonly string[] = type === 'service' ? [] : applicationScopes;
  if (known.includes(scope)) return undefined;
  return `must be ${known.length > 0 ? `one of ${known.join(', ')}, or ` : ''}a scope of a resource such as metrics:read`;
}

const hasContent = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value));
