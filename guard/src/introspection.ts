import { createHash } from 'node:crypto';

import { type Claims, claimsOf, isTextList } from './access-token.js';
import type { IntrospectedAuth, UnavailableReason } from './auth.js';
import { requestJson, UnavailableError } from './bounded-request.js';
import type { Settings } from './options.js';
import type { Ports } from './ports.js';
import { RecentAnswers } from './recent-answers.js';

/** Asks the service about tokens (RFC 7662). Parallel questions about one token are asked once. */
export class Introspection {
  readonly #client: NonNullable<Settings['client']>;
  readonly #authorization: string;
  readonly #asking = new Map<string, Promise<IntrospectedAuth | undefined>>();
  readonly #answers: RecentAnswers<IntrospectedAuth>;

  constructor(
    client: NonNullable<Settings['client']>,
    private readonly timeoutMs: number,
    private readonly ports: Ports,
  ) {
    // Private fields do not appear where a program prints the object.
    this.#client = client;
    this.#authorization = `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`;
    this.#answers = new RecentAnswers(client.maxCachedTokens);
  }

  get cachedTokens(): number {
    return this.#answers.size;
  }

  /**
   * @returns undefined for a token that is not active; such an answer is not cached
   * @throws UnavailableError
   */
  async ask(token: string, claims: Claims): Promise<IntrospectedAuth | undefined> {
    // A dump of the memory shows no token of the cache.
    const key = createHash('sha256').update(token).digest('base64');
    const answer = this.#answers.get(key, this.ports.steadyMs()) ?? this.#asking.get(key);
    if (answer !== undefined) return answer;
    const asking = this.#question(key, token, claims).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #question(key: string, token: string, claims: Claims): Promise<IntrospectedAuth | undefined> {
    const { introspectionUrl: url, maxStaleMs } = this.#client;
    // An answer is as old as its question: the token can end while the answer is on its way.
    const [askedMs, askedAt] = [this.ports.steadyMs(), this.ports.epochSeconds()];
    const headers = {
      authorization: this.#authorization,
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
    };
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' }).toString();
    const limits = { ports: this.ports, timeoutMs: this.timeoutMs };
    const answer = (await requestJson(url, { method: 'POST', headers, body }, limits)) as Record<string, unknown>;
    if (answer.active === false) return undefined;
    const auth = authFrom(answer, claims, askedAt);
    if (auth === undefined) throw malformed(url);
    if (maxStaleMs > 0) this.#answers.set(key, auth, askedMs + maxStaleMs);
    return auth;
  }
}

/** @returns undefined when the answer is incomplete, or when it is not about this token, as that of a broken cache */
function authFrom(answer: Record<string, unknown>, claims: Claims, askedAt: number): IntrospectedAuth | undefined {
  const { active, username, is_admin, groups, token_type } = answer;
  if (active !== true || token_type !== 'access') return undefined;
  if (typeof username !== 'string' || typeof is_admin !== 'boolean') return undefined;
  // Version 1.0.0 of the service has no groups.
  if (groups !== undefined && !isTextList(groups)) return undefined;
  const answered = claimsOf(answer);
  if (answered === undefined || identity(answered) !== identity(claims)) return undefined;
  return frozen<IntrospectedAuth>({
    ...answered,
    // The answer confirms the token with all its claims. A replica of a former version does not repeat this one.
    ...(claims.cnf !== undefined && { cnf: claims.cnf }),
    ...(groups !== undefined && { groups: Object.freeze([...groups]) }),
    ...{ username, is_admin, verified_by: 'introspection', verified_at: askedAt },
  });
}

function identity({ sub, sid, jti, iss, aud, iat, exp }: Claims): string {
  return JSON.stringify([sub, sid, jti, iss, aud, iat, exp]);
}

/** Requests share a cached object, so that none of them may change it for the others. */
export function frozen<A extends Claims>(auth: A): A {
  Object.freeze(auth.amr);
  Object.freeze(auth.aud);
  Object.freeze(auth.cnf);
  return Object.freeze(auth);
}

export function malformed(url: string): UnavailableError {
  const reason: UnavailableReason = 'malformed_answer';
  return new UnavailableError({ status: 'unavailable', reason, url });
}
