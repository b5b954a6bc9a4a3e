import type { ClientCredentials } from '../service-client.repository';

/**
 * Reads the credentials of a client from `Authorization: Basic` (RFC 6749 §2.3.1, RFC 7617). Both parts are
 * form-encoded. Ids and secrets of this service contain no character that the encoding changes.
 * @returns undefined for anything else
 */
export function basicCredentials(authorization: string | undefined): ClientCredentials | undefined {
  const encoded = /^basic +([a-z0-9+/]+={0,2})$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}
