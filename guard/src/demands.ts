import type { Auth, InsufficientReason } from './auth.js';

/** The demands of a route on the sign-in of its caller, beyond a valid token (RFC 9470). */
export interface Demands {
  /** The greatest age of the last credential check of the session, in seconds. */
  readonly maxAgeSeconds?: number;
  /** The session has used two factors, or a passkey. */
  readonly requireFactor?: boolean;
}

/** The value of the claim `acr` of two factors. */
export const twoFactors = 'urn:portal:acr:2';

export const demandNames = ['maxAgeSeconds', 'requireFactor'] as const;

/** @throws TypeError that names the option, behind the name of the function that got it */
export function readDemands(demands: Demands | undefined, of = 'guard'): Demands {
  if (demands === undefined) return {};
  if (typeof demands !== 'object' || demands === null) throw new TypeError(`${of}: the demands must be an object`);
  const unknown = Object.keys(demands).find((name) => !(demandNames as readonly string[]).includes(name));
  if (unknown !== undefined) throw new TypeError(`${of}: ${unknown} is no demand; they are ${demandNames.join(', ')}`);
  const { maxAgeSeconds, requireFactor } = demands;
  if (maxAgeSeconds !== undefined && !(Number.isSafeInteger(maxAgeSeconds) && maxAgeSeconds >= 0)) {
    throw new TypeError(`${of}: maxAgeSeconds must be a whole number from 0`);
  }
  if (requireFactor !== undefined && typeof requireFactor !== 'boolean') {
    throw new TypeError(`${of}: requireFactor must be true or false`);
  }
  return demands;
}

/** A route can ask for more than its verifier, and never for less. */
export function strictest(one: Demands, other: Demands): Demands {
  const ages = [one.maxAgeSeconds, other.maxAgeSeconds].filter((age) => age !== undefined);
  return {
    ...(ages.length > 0 && { maxAgeSeconds: Math.min(...ages) }),
    ...((one.requireFactor === true || other.requireFactor === true) && { requireFactor: true }),
  };
}

/**
 * The age is counted by the clock of this computer, without leeway. A token without the claims, as version 1.0.0 of the service
 * issues them, meets no demand.
 * @returns undefined when the demands are met
 */
export function unmet(
  { maxAgeSeconds, requireFactor }: Demands,
  { auth_time, acr }: Pick<Auth, 'auth_time' | 'acr'>,
  now: number,
): InsufficientReason | undefined {
  if (requireFactor === true && acr !== twoFactors) return 'one_factor';
  if (maxAgeSeconds === undefined) return undefined;
  return auth_time !== undefined && now - auth_time <= maxAgeSeconds ? undefined : 'too_old';
}
