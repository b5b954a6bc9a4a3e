import { type Claims, type ProviderClient, ProviderRefused, type VerifiedAnswer } from '../provider-connection';

const subLength = 255;

/**
 * What remains to be checked when the package has verified signature, `iss`, `aud`, `azp`, times and nonce. The claims of
 * the ID token win over those of userinfo, which nobody has signed.
 */
export function verifiedAnswer({ issuer }: ProviderClient, idToken: Claims, userinfo: Claims): VerifiedAnswer {
  const { iss, sub, sid, amr, acr, auth_time: authTime } = idToken;
  // The package replaces a part of the issuer of Entra ID by a claim of the token.
  if (iss !== issuer) throw new ProviderRefused('issuer');
  if (typeof sub !== 'string' || sub === '' || sub.length > subLength) throw new ProviderRefused('sub');
  if (authTime !== undefined && typeof authTime !== 'number') throw new ProviderRefused('auth_time');
  return {
    sub,
    claims: { ...userinfo, ...idToken },
    sid: typeof sid === 'string' && sid !== '' ? sid : undefined,
    amr: Array.isArray(amr) ? amr.filter((one) => typeof one === 'string') : [],
    acr: typeof acr === 'string' ? acr : undefined,
    authTime: authTime === undefined ? undefined : new Date(authTime * 1000),
  };
}
