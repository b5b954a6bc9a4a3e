import type { CurrentSession } from '../../sessions/current-session';

/**
 * Servers refuse an answer whose headers are larger than 4 to 16 KB, and the user could use nothing behind the proxy. So the
 * header ends after the last name that fits.
 */
const mostGroupsBytes = 4096;

/**
 * The headers that a proxy copies into the request for the application. Each one is always sent, also without a value:
 * a proxy that copies it then overwrites what the client has sent under that name.
 * @param first the groups that the proxy has asked about, which stand in front where the header cannot hold all
 */
export function identityHeaders(
  { user, payload, groups = [] }: Pick<CurrentSession, 'user' | 'payload' | 'groups'>,
  first: (group: string) => boolean,
): Record<string, string> {
  return {
    'x-auth-subject': headerValue(user.uid),
    'x-auth-name': headerValue(user.loginName),
    'x-auth-display-name': headerValue(user.nickname),
    'x-auth-email': headerValue(user.email),
    'x-auth-tenant': headerValue(user.tenantId),
    'x-auth-unit': headerValue(user.orgUnitId),
    'x-auth-groups': groupsHeader(groups, first),
    'x-auth-amr': payload.amr.map(headerValue).join(','),
  };
}

function groupsHeader(groups: readonly string[], first: (group: string) => boolean): string {
  const all = groups.map(headerValue).join(',');
  if (all.length <= mostGroupsBytes) return all;
  let text = '';
  for (const name of [...groups.filter(first), ...groups.filter((group) => !first(group))].map(headerValue)) {
    const longer = text === '' ? name : `${text},${name}`;
    if (longer.length > mostGroupsBytes) break;
    text = longer;
  }
  return text;
}

const header = (description: string) => ({ description, schema: { type: 'string' } }) as const;

/** The same headers in the OpenAPI document. */
export const documentedHeaders = {
  'X-Auth-Subject': header('The `uid` of the user.'),
  'X-Auth-Name': header('The login name.'),
  'X-Auth-Display-Name': header('The nickname; empty without one.'),
  'X-Auth-Email': header('The e-mail address; empty without one.'),
  'X-Auth-Tenant': header('The tenant.'),
  'X-Auth-Unit': header('The organisation unit; empty without one.'),
  'X-Auth-Groups': header(
    'The names of the groups, separated by commas: all, or as many as fit into 4,096 bytes, those of the query first.',
  ),
  'X-Auth-Amr': header('How the session was authenticated (RFC 8176), separated by commas.'),
};

/** All but printable ASCII, the percent sign, the comma, and a space at either end, which HTTP would remove. */
const encoded = /[^\x20-\x7e]|[%,]|^ | $/g;

/**
 * Percent-encodes these bytes of the UTF-8 form, with upper-case digits, and leaves all others as they are. Line ends and other
 * control characters are among them, so no value can end its header. Decoding every `%XX` gives exactly the text.
 */
export function headerValue(text: string | null): string {
  if (text === null) return '';
  if (text.search(encoded) < 0) return text;
  const bytes = Buffer.from(text).toString('latin1');
  return bytes.replace(encoded, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
