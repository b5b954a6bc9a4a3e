import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';

import { requestJson } from './bounded-request.js';
import { malformed } from './introspection.js';
import type { Ports } from './ports.js';

/** HS256 is not among them, so nobody can use a public key as its secret (RFC 8725 §3.1). */
export const algorithms = ['ES256', 'RS256'];

/** After this time the keys are fetched again beside the requests. */
const renewMs = 5 * 60_000;
/** After this time the keys are not used any more: a key that the operator removed is refused by then. */
const maxAgeMs = 10 * 60_000;
/** At most one request for keys in this time, however many tokens name an unknown key. */
const coolDownMs = 1000;

interface FetchedKeys {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly sinceMs: number;
}

/** The public keys of the service (RFC 7517). A token that names an unknown key makes it fetch the keys again. */
export class KeySet {
  private keys: FetchedKeys | undefined;
  private fetching: Promise<FetchedKeys> | undefined;
  private nextFetchMs = Number.NEGATIVE_INFINITY;
  private failure: Error | undefined;

  constructor(
    private readonly url: string,
    private readonly timeoutMs: number,
    private readonly ports: Ports,
  ) {}

  /**
   * @returns whether a key of the service has signed the token
   * @throws UnavailableError when the keys cannot be fetched or used
   */
  async verifies(token: string): Promise<boolean> {
    const arrivedMs = this.ports.steadyMs();
    for (let keys = await this.current(); ; keys = await this.fetched()) {
      try {
        await compactVerify(token, keys.find, { algorithms });
        return true;
      } catch (error) {
        const { code } = error as { code?: string };
        const unknown = code === 'ERR_JWKS_NO_MATCHING_KEY';
        if (!unknown && !refusals.has(code ?? '')) throw malformed(this.url);
        // The service publishes a key before it signs with it. Only keys of before this request can lack a genuine one.
        if (!unknown || keys.sinceMs >= arrivedMs) return false;
      }
    }
  }

  private async current(): Promise<FetchedKeys> {
    const ageMs = this.keys === undefined ? Infinity : this.ports.steadyMs() - this.keys.sinceMs;
    if (this.keys === undefined || ageMs >= maxAgeMs) return this.fetched();
    // A failure shows at the end of `maxAgeMs`, unless a later attempt succeeds.
    if (ageMs >= renewMs) this.fetched().catch(() => undefined);
    return this.keys;
  }

  /** Parallel callers share one request. */
  private fetched(): Promise<FetchedKeys> {
    this.fetching ??= this.fetch().finally(() => (this.fetching = undefined));
    return this.fetching;
  }

  private async fetch(): Promise<FetchedKeys> {
    const coolDown = this.nextFetchMs - this.ports.steadyMs();
    if (coolDown > 0 && this.failure !== undefined) throw this.failure;
    // A token of a new key is then accepted a moment later, instead of being refused.
    if (coolDown > 0) await this.ports.wait(coolDown);
    const sinceMs = this.ports.steadyMs();
    this.nextFetchMs = sinceMs + coolDownMs;
    try {
      const find = createLocalJWKSet(await this.answer());
      this.failure = undefined;
      this.keys = { find, sinceMs };
      return this.keys;
    } catch (error) {
      // jose refuses what is not a key set.
      this.failure = (error as { code?: string }).code === 'ERR_JWKS_INVALID' ? malformed(this.url) : (error as Error);
      throw this.failure;
    }
  }

  private async answer(): Promise<JSONWebKeySet> {
    const init = { method: 'GET', headers: { accept: 'application/jwk-set+json, application/json' } } as const;
    const limits = { ports: this.ports, timeoutMs: this.timeoutMs };
    return (await requestJson(this.url, init, limits)) as JSONWebKeySet;
  }
}

/** Codes of jose for a token that is wrong. Every other error concerns the keys. */
const refusals = new Set([
  'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  'ERR_JWS_INVALID',
  'ERR_JOSE_ALG_NOT_ALLOWED',
  'ERR_JOSE_NOT_SUPPORTED',
]);
