import { readAccessToken, type ReadToken } from './access-token.js';
import type { Auth, InvalidReason, Verdict } from './auth.js';
import { UnavailableError } from './bounded-request.js';
import { type Demands, readDemands, strictest, unmet } from './demands.js';
import { frozen, Introspection } from './introspection.js';
import { algorithms, KeySet } from './key-set.js';
import { readOptions, type VerifierOptions } from './options.js';
import { type Ports, systemPorts } from './ports.js';

export interface Verifier {
  /**
   * Judges an access token. It does not reject: a token that cannot be checked is `unavailable`.
   * @param demands what this call asks for, in addition to the options of the verifier. A wrong one is a TypeError.
   */
  verify(token: string, demands?: Demands): Promise<Verdict>;
  /** The number of cached answers, for a metric. */
  readonly cachedTokens: number;
}

/**
 * Judges the access tokens of the service.
 * @throws TypeError that names a missing, wrong or unknown option
 */
export function verifier(options: VerifierOptions): Verifier {
  return createVerifier(options, systemPorts);
}

export function createVerifier(options: VerifierOptions, ports: Ports): Verifier {
  const { issuer, audience, client, jwksUrl, timeoutMs, onUnavailable, demands: always } = readOptions(options);
  const keys = jwksUrl === undefined ? undefined : new KeySet(jwksUrl, timeoutMs, ports);
  const introspection = client === undefined ? undefined : new Introspection(client, timeoutMs, ports);

  async function judge(token: string): Promise<Auth | InvalidReason> {
    const now = ports.epochSeconds();
    const read = readAccessToken(token, { issuer, audience, now });
    if (typeof read === 'string') return read;
    if (keys !== undefined) {
      const reason = wrongHeader(read);
      if (reason !== undefined) return reason;
      if (!(await keys.verifies(token))) return 'signature';
    }
    if (introspection !== undefined) return (await introspection.ask(token, read.claims)) ?? 'not_active';
    return frozen<Auth>({ ...read.claims, verified_by: 'signature', verified_at: now });
  }

  return Object.freeze({
    async verify(token: string, more?: Demands): Promise<Verdict> {
      const demands = strictest(always, readDemands(more));
      try {
        const judgement = await judge(token);
        if (typeof judgement === 'string') return { status: 'invalid', reason: judgement };
        // The clock is read again: a cached answer gets older.
        const reason = unmet(demands, judgement, ports.epochSeconds());
        return reason === undefined
          ? { status: 'valid', auth: judgement }
          : { status: 'insufficient', reason, ...demands };
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        onUnavailable?.(error.problem);
        return error.problem;
      }
    },
    get cachedTokens() {
      return introspection?.cachedTokens ?? 0;
    },
  });
}

/** The service always writes these three members. Without a `kid` any key of the set would do. */
function wrongHeader({ alg, typ, kid }: ReadToken): InvalidReason | undefined {
  if (typeof alg !== 'string' || !algorithms.includes(alg)) return 'algorithm';
  if (typ !== 'JWT') return 'type';
  return typeof kid === 'string' ? undefined : 'malformed';
}
