/** Longer is never ours; the limit also bounds what a parser is made to look at. */
const maxLength = 4096;
const known = new Set(['alg', 'typ', 'kid']);

// What the last one or two bytes leave over is zero: each text of this form is the only one for its bytes (RFC 4648 §3.5).
const canonicalBase64url = /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/;

/**
 * The key id of a compact JWS whose spelling is canonical and whose header holds nothing but alg, typ and kid: no `crit`,
 * no key that the token brings along (jwk, jku, x5c, x5u; RFC 8725 §3.10), no padding bits to play with.
 * @returns undefined when the token is not of that form; the kid, or '' where there is none, otherwise.
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

function isCanonical(part: string): boolean {
  return part !== '' && canonicalBase64url.test(part);
}
