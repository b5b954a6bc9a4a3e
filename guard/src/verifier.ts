import { readAccessToken, type ReadToken } from './access-token.js';
import type { Auth, InvalidReason, Verdict } from './auth.js';
import { UnavailableError } from './bounded-request.js';
import { type Demands, readDemands, strictest, unmet } from './demands.js';
import { frozen, Introspection } from './introspection.js';
import { algorithms, KeySet } from './key-set.js';
import { readOptions, type VerifierOptions } from './options.js';
import { type Ports, systemPorts } from './ports.js';
import { type Proof, readProof } from './proof.js';
import { RecentAnswers } from './recent-answers.js';
import { askedUrls, type CheckedRequest, sentToken, text } from './request.js';

/** A process remembers at most so many proofs, in about 40 MB, and at least half: enough for 800 requests per second. */
const rememberedProofs = 200_000;

export interface Verifier {
  /**
   * Judges an access token. It does not reject: a token that cannot be checked is `unavailable`.
   * @param demands what this call asks for, in addition to the options of the verifier. A wrong one is a TypeError.
   */
  verify(token: string, demands?: Demands): Promise<Verdict>;
  /**
   * Judges the token of a request, and the proof of a bound token (RFC 9449). It does not reject either. All that `verifier`
   * returns have it; `checkRequest` also takes the stand-in of a test that has not.
   */
  check?(request: CheckedRequest, demands?: Demands): Promise<Verdict>;
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
  const settings = readOptions(options);
  const { issuer, audience, client, jwksUrl, timeoutMs, onUnavailable, demands: always } = settings;
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

  const used = new RecentAnswers<true>(rememberedProofs);
  const remember = settings.replayStore ?? {
    firstUse: (id: string, seconds: number) => {
      const now = ports.steadyMs();
      const first = used.get(id, now) === undefined;
      if (first) used.set(id, true, now + seconds * 1000);
      return first;
    },
  };

  async function isFirstUse({ id, seconds }: Proof): Promise<boolean> {
    try {
      return await remember.firstUse(id, seconds);
    } catch {
      throw new UnavailableError({ status: 'unavailable', reason: 'replay_store', url: '' });
    }
  }

  async function judgeRequest(request: CheckedRequest): Promise<Auth | InvalidReason> {
    const { scheme, token } = sentToken(request.headers.authorization) ?? {};
    if (token === undefined) return 'missing';
    if (scheme === 'bearer') return judgeBearer(token);
    const urls = askedUrls(request, settings);
    if (urls.length === 0) throw new UnavailableError({ status: 'unavailable', reason: 'origin_unknown', url: '' });
    const now = ports.epochSeconds();
    const proof = await readProof(text(request.headers.dpop) ?? '', { request, urls, token, now });
    // Before the token is judged: a stolen token costs the service no question.
    if (proof === undefined) return 'proof';
    const auth = await judge(token);
    if (typeof auth === 'string') return auth;
    if (auth.cnf === undefined) return 'unbound';
    // Only the owner of the key gets as far as the memory of proofs, so nobody else can fill it.
    return auth.cnf.jkt === proof.jkt && (await isFirstUse(proof)) ? auth : 'proof';
  }

  async function judgeBearer(token: string): Promise<Auth | InvalidReason> {
    const auth = await judge(token);
    if (typeof auth === 'string') return auth;
    if (auth.cnf !== undefined) return 'bound';
    return settings.requireBinding ? 'unbound' : auth;
  }

  async function verdict(judging: () => Promise<Auth | InvalidReason>, more: Demands | undefined): Promise<Verdict> {
    const demands = strictest(always, readDemands(more));
    try {
      const judgement = await judging();
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
  }

  return Object.freeze({
    verify: (token: string, demands?: Demands) => verdict(() => judgeBearer(token), demands),
    check: (request: CheckedRequest, demands?: Demands) => verdict(() => judgeRequest(request), demands),
    get cachedTokens() {
      return introspection?.cachedTokens ?? 0;
    },
  });
}

/** Judges the token of a request, with its proof. */
export async function checkRequest(verifier: Verifier, request: CheckedRequest, demands?: Demands): Promise<Verdict> {
  if (verifier.check !== undefined) return verifier.check(request, demands);
  const { scheme, token } = sentToken(request.headers.authorization) ?? {};
  if (token === undefined) return { status: 'invalid', reason: 'missing' };
  return scheme === 'bearer' ? verifier.verify(token, demands) : { status: 'invalid', reason: 'proof' };
}

/** The service always writes these three members. Without a `kid` any key of the set would do. */
function wrongHeader({ alg, typ, kid }: ReadToken): InvalidReason | undefined {
  if (typeof alg !== 'string' || !algorithms.includes(alg)) return 'algorithm';
  if (typ !== 'JWT') return 'type';
  return typeof kid === 'string' ? undefined : 'malformed';
}
