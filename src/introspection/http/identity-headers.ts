import type { CurrentSession } from '../../sessions/current-session';

/** No user is in a group yet. The header is sent all the same, so that it replaces a value that the client has invented. */
export const groups: readonly string[] = [];

/**
 * The headers that a proxy copies into the request for the application. Each one is always sent, also without a value:
 * a proxy that copies it then overwrites what the client has sent under that name.
 */
export function identityHeaders({ user, payload }: Pick<CurrentSession, 'user' | 'payload'>): Record<string, string> {
  return {
    'x-auth-subject': headerValue(user.uid),
    'x-auth-name': headerValue(user.loginName),
    'x-auth-display-name': headerValue(user.nickname),
    'x-auth-email': headerValue(user.email),
    'x-auth-tenant': headerValue(user.tenantId),
    'x-auth-unit': headerValue(user.orgUnitId),
    'x-auth-groups': groups.map(headerValue).join(','),
    'x-auth-amr': payload.amr.map(headerValue).join(','),
  };
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
  'X-Auth-Groups': header('The names of the groups, separated by commas. There are no groups yet, so it is empty.'),
  'X-Auth-Amr': header('How the session was authenticated (RFC 8176), separated by commas.'),
};

/** All but printable ASCII, the percent sign, the comma, and a space at either end, which HTTP would remove. */
const encoded = /[^\x20-\x7e]|[%,]|^ | $/g;

/**
 * Percent-encodes these bytes of the UTF-8 form, with upper-case digits, and leaves all others as they are. Line ends and other
 * control characters are among them, so no value can end its header. Decoding every `%XX` gives exactly the text.
 */
export function headerValue(text: string | null): string {
  const bytes = Buffer.from(text ?? '').toString('latin1');
  return bytes.replace(encoded, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
