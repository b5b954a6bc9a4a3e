/** The longest accepted token. Our tokens are shorter, and the limit bounds the work of the parser. */
const maxLength = 4096;
const known = new Set(['alg', 'typ', 'kid']);

/** The header `typ` of refresh tokens (docs/spec/extensions.md#stock-check). */
export const refreshTokenType = 'rt+jwt';

// The unused bits of the last character are zero, so the same bytes have only one spelling (RFC 4648 §3.5).
const canonicalBase64url = /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/;

/**
 * Reads the key id of a compact JWS. The spelling must be canonical, so that a token has only one text. The header may
 * contain only alg, typ and kid: no `crit`, and no key inside the token (jwk, jku, x5c, x5u; RFC 8725 §3.10).
 * @returns the kid, or '' when the header has none; undefined when the token does not have this form
 */
export function keyIdOf(token: string): string | undefined {
  const parts = token.split('.');
  if (token.length > maxLength || parts.length !== 3 || !parts.every(isCanonical)) return undefined;
  try {
    const header: unknown = JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString('utf8'));
    if (typeof header !== 'object' || header === null || Array.isArray(header)) return undefined;
    if (!Object.keys(header).every((member) => known.has(member))) return undefined;
    const { kid } = header as { kid?: unknown };
    return kid === undefined ? '' : typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}

/** The header `typ` of a token whose signature was checked. Undefined when it has none. */
export function typeOf(token: string): unknown {
  const header = Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString('utf8');
  return (JSON.parse(header) as { typ?: unknown }).typ;
}

function isCanonical(part: string): boolean {
  return part !== '' && canonicalBase64url.test(part);
}
