// A browser that signs in at an application with the authorization code flow, as bench/applications.mjs does a thousand times.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { serviceSettings } from './contestants.mjs';

export const callback = 'https://grafana.example.com/login/generic_oauth';
const portal = serviceSettings.SYSTEM_URL;
const userAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

/** A code flow with PKCE that begins (RFC 6749 §4.1.1, RFC 7636). */
export function authorizationRequest(id, scope) {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: id,
    response_type: 'code',
    redirect_uri: callback,
    scope,
    state: randomBytes(16).toString('base64url'),
    nonce: randomBytes(16).toString('base64url'),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  return { verifier, query };
}

/** The cookies of one user, and the tokens that the application keeps for them. */
export class Browser {
  #cookies = new Map();
  #refreshToken;
  #accessToken;

  constructor(port) {
    this.origin = `http://127.0.0.1:${port}`;
  }

  async #send(url, { method = 'GET', ...more } = {}, headers = {}) {
    const { pathname, search } = new URL(url, portal);
    const cookie = [...this.#cookies]
      .filter(([, { path }]) => pathname === path || pathname.startsWith(path.replace(/\/?$/, '/')))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
    const answer = await fetch(`${this.origin}${pathname}${search}`, {
      method,
      redirect: 'manual',
      headers: { 'user-agent': userAgent, ...(cookie && { cookie }), ...headers },
      ...more,
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (/expires=Thu, 01 Jan 1970/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, { value, path: /path=([^;]+)/i.exec(line)?.[1] ?? '/' });
    }
    return answer;
  }

  /** Follows redirects until they lead to a page of the portal or to the application. */
  async #follow(from) {
    let url = new URL(from, portal);
    while (url.pathname.startsWith('/oidc/')) {
      const answer = await this.#send(url);
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`${url.pathname} answered ${answer.status} ${await answer.text()}`);
      url = new URL(location, url);
    }
    return url;
  }

  /** @param {string} [access] the access token of the page, if the browser has not signed in at the provider yet */
  async signIn({ id, secret }, access) {
    const { verifier, query } = authorizationRequest(id, 'openid profile email');
    let url = await this.#follow(`/oidc/auth?${query}`);
    const interaction = url.searchParams.get('interaction');
    if ((interaction !== null) !== (access !== undefined)) throw new Error(`not expected: ${url}`);
    if (interaction !== null) {
      const answer = await this.#send(
        `/applications/interactions/${interaction}`,
        { method: 'POST', body: '{}' },
        { authorization: `Bearer ${access}`, origin: portal, 'content-type': 'application/json' },
      );
      const { data } = await answer.json();
      url = await this.#follow(data.redirect_to);
    }
    const code = url.searchParams.get('code');
    await this.#tokens(
      { id, secret },
      { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier },
    );
  }

  /** The tokens that the application keeps. */
  get tokens() {
    return { access: this.#accessToken, refresh: this.#refreshToken };
  }

  renew(application) {
    return this.#tokens(application, { grant_type: 'refresh_token', refresh_token: this.#refreshToken });
  }

  /** Sent by the server of the application, without the cookies of the browser. */
  async #tokens({ id, secret }, form) {
    const answer = await fetch(`${this.origin}/oidc/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
      body: new URLSearchParams(form),
    });
    const body = await answer.json();
    if (answer.status !== 200) throw new Error(`${form.grant_type} answered ${answer.status} ${JSON.stringify(body)}`);
    this.#accessToken = body.access_token;
    this.#refreshToken = body.refresh_token ?? this.#refreshToken;
  }
}

/** A web application of the company, which keeps a secret and is told of the end of a session. */
export async function newApplication(db) {
  const [id, secret] = [randomUUID(), randomBytes(32).toString('base64url')];
  const row = {
    id,
    name: 'Grafana',
    type: 'web',
    secret_hash: createHash('sha256').update(secret).digest('hex'),
    redirect_uris: JSON.stringify([callback]),
    post_logout_redirect_uris: '[]',
    backchannel_logout_uri: 'https://127.0.0.1:9/logout',
    scopes: JSON.stringify(['openid', 'profile', 'email', 'offline_access']),
    audience: '[]',
    first_party: 1,
    allowed_tenants: '[]',
    allowed_groups: '[]',
    enabled: 1,
    created_at: new Date(),
    changed_at: new Date(),
  };
  const names = Object.keys(row);
  const places = names.map(() => '?').join(', ');
  await db.run(`INSERT INTO applications (${names.join(', ')}) VALUES (${places})`, Object.values(row), 'service');
  return { id, secret };
}
