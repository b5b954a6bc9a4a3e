import { createHash, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import type { Application } from '../../src/applications/application.entity';
import { sha256Hex } from '../../src/platform/crypto/key-ring';
import type { Answer, TestService } from './app';

/** The settings of a service with the OpenID provider. The issuer is `http://portal.test/oidc`. */
export const openIdSettings = { OIDC: 'on' } as const;

export const callback = 'https://app.example.com/callback';

export interface GivenApplication {
  readonly id: string;
  /** Undefined for an application that keeps none. */
  readonly secret: string | undefined;
}

/** The row of an application: by default a web application of the company, which asks for no consent. */
export function applicationRow(now: Date, more: Partial<Application> = {}) {
  const type = more.type ?? 'web';
  const secret = type === 'web' || type === 'service' ? randomBytes(32).toString('base64url') : undefined;
  const id = more.id ?? randomUUID();
  const row: Record<string, unknown> = {
    id,
    name: 'Grafana',
    type,
    secretHash: secret === undefined ? null : sha256Hex(secret),
    oldSecretHash: null,
    oldSecretExpires: null,
    redirectUris: [callback],
    postLogoutRedirectUris: ['https://app.example.com/'],
    backchannelLogoutUri: null,
    scopes: ['openid', 'profile', 'email', 'organization', 'offline_access'],
    audience: [],
    firstParty: true,
    allowedTenants: [],
    allowedGroups: [],
    logoUrl: null,
    uri: 'https://app.example.com/',
    enabled: true,
    createdAt: now,
    changedAt: now,
    ...more,
  };
  const columns = Object.keys(row);
  const values = columns.map((name) => {
    const value = row[name];
    return Array.isArray(value) ? JSON.stringify(value) : (value as string | boolean | Date | null);
  });
  const names = columns.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  const statement = `INSERT INTO applications (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  return { application: { id, secret }, statement, values };
}

/** Stores an application. */
export async function givenApplication(
  service: TestService,
  more: Partial<Application> = {},
): Promise<GivenApplication> {
  const { application, statement, values } = applicationRow(service.clock.now(), more);
  await service.database.affected(statement, values);
  service.secrets.add('the secret of an application', application.secret);
  return application;
}

/** A service in this process, or processes of the built program (`sendTo`). */
export interface Sender {
  send(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    request?: { readonly headers?: Record<string, string>; readonly bearer?: string },
  ): Promise<Answer>;
}

/** Sends requests over HTTP. */
export const sendTo = (url: string): Sender => ({
  async send(method, path, body, { headers = {}, bearer } = {}) {
    const form = typeof body === 'string';
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(body === undefined || form ? {} : { 'content-type': 'application/json' }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...headers,
      },
      body: body === undefined || form ? body : JSON.stringify(body),
    });
    const raw = Buffer.from(await response.arrayBuffer());
    const json = response.headers.get('content-type')?.startsWith('application/json') && raw.length > 0;
    return {
      status: response.status,
      headers: { ...Object.fromEntries(response.headers), 'set-cookie': response.headers.getSetCookie() },
      body: json ? JSON.parse(raw.toString()) : undefined,
      raw,
    };
  },
});

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

export interface Authorization {
  /** Where the browser was led at last: a page of the portal, or the application. */
  readonly url: URL;
  readonly verifier: string;
}

const unescaped = (text: string) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

/** A browser with its cookies, which walks through the provider of a service in this process. */
export class OpenIdBrowser {
  /** By name and path: two of one name and different paths are two cookies. */
  readonly cookies = new Map<string, Cookie>();

  constructor(
    private readonly service: Sender,
    private readonly prefix = '/oidc',
    private readonly portal = 'http://portal.test',
  ) {}

  cookieHeader(path: string): string {
    return [...this.cookies.values()]
      .filter((cookie) => path === cookie.path || path.startsWith(cookie.path.replace(/\/?$/, '/')))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }

  cookie(name: string): string | undefined {
    return [...this.cookies.values()].find((cookie) => cookie.name === name)?.value;
  }

  /** One request of this browser to the service. */
  async request(
    method: 'GET' | 'POST',
    url: string,
    {
      headers = {},
      form,
      ...more
    }: { headers?: Record<string, string>; form?: Record<string, string>; bearer?: string; body?: unknown } = {},
  ): Promise<Answer> {
    const path = url.startsWith(this.portal) ? url.slice(this.portal.length) : url;
    const sent = {
      ...headers,
      cookie: this.cookieHeader(path.split('?')[0]!),
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    };
    const body = form === undefined ? more.body : new URLSearchParams(form).toString();
    const answer = await this.service.send(method, path, body, { headers: sent, bearer: more.bearer });
    for (const line of [answer.headers['set-cookie'] ?? []].flat() as string[]) this.store(line);
    return answer;
  }

  private store(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const at = pair.indexOf('=');
    const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? '/';
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (attributes.some((one) => /^expires=Thu, 01 Jan 1970/i.test(one))) this.cookies.delete(`${name};${path}`);
    else this.cookies.set(`${name};${path}`, { name, value, path });
  }

  /** Begins a code flow, and follows the provider as far as it leads inside its own paths. */
  async authorize(application: GivenApplication, more: Record<string, string> = {}): Promise<Authorization> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      client_id: application.id,
      response_type: 'code',
      redirect_uri: callback,
      scope: 'openid profile email',
      state: 'a-state',
      nonce: 'a-nonce',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    });
    for (const [name, value] of [...query]) if (value === '') query.delete(name);
    return { url: await this.follow(`${this.portal}${this.prefix}/auth?${query.toString()}`), verifier };
  }

  /** Sends the form of a page of the provider, as its script or its only button does. */
  submit(page: Answer): Promise<Answer> {
    const html = page.raw.toString();
    const action = /action="([^"]+)"/.exec(html)?.[1];
    if (action === undefined) throw new Error(`the page has no form: ${page.status} ${html}`);
    const fields = [...html.matchAll(/<(?:input|button)\b[^>]*\bname="([^"]+)"[^>]*\bvalue="([^"]*)"/g)];
    const form = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, unescaped(value)]));
    if (!html.includes('<form method="get"')) return this.request('POST', action, { form });
    return this.request('GET', `${action}?${new URLSearchParams(form).toString()}`);
  }

  /** Follows redirects inside the issuer. @returns where they lead outside */
  async follow(from: string): Promise<URL> {
    let url = new URL(from);
    for (let hops = 0; hops < 10 && url.pathname.startsWith(`${this.prefix}/`); hops++) {
      const { status, headers, raw } = await this.request('GET', url.href);
      if (status !== 303 && status !== 302) throw new Error(`${url.pathname} answered ${status} ${raw.toString()}`);
      url = new URL(String(headers.location), url);
    }
    return url;
  }

  /** What the page does whose user is signed in. */
  finish(
    interaction: string,
    access: string,
    body: Record<string, unknown> = {},
    origin = this.portal,
  ): Promise<Answer> {
    const path = `/applications/interactions/${interaction}`;
    return this.request('POST', path, { bearer: access, body, headers: { origin } });
  }

  describe(interaction: string, access: string): Promise<Answer> {
    return this.request('GET', `/applications/interactions/${interaction}`, { bearer: access });
  }

  /** The whole way of a user who is signed in at the pages. @returns the URL of the application, with the code */
  async signIn(
    application: GivenApplication,
    access: string,
    more: Record<string, string> = {},
    consent?: boolean,
  ): Promise<Authorization> {
    const { url, verifier } = await this.authorize(application, more);
    const interaction = url.searchParams.get('interaction');
    if (interaction === null) return { url, verifier };
    const { status, body } = await this.finish(interaction, access, consent === undefined ? {} : { consent });
    if (status !== 200) throw new Error(`the interaction answered ${status} ${JSON.stringify(body)}`);
    return { url: await this.follow(String(body.data.redirect_to)), verifier };
  }
}

/** `POST {issuer}/token`, as the application sends it. */
export function askForTokens(
  service: Sender,
  application: GivenApplication,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return postForm(service, '/oidc/token', application, form, headers);
}

/** A form with the credentials of the application. */
export function postForm(
  service: Sender,
  path: string,
  { id, secret }: GivenApplication,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const basic = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
  return service.send(
    'POST',
    path,
    new URLSearchParams({ ...(secret === undefined ? { client_id: id } : {}), ...form }).toString(),
    {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(secret === undefined ? {} : basic),
        ...headers,
      },
    },
  );
}

/** Exchanges the code of `signIn`. */
export function exchange(
  service: Sender,
  application: GivenApplication,
  { url, verifier }: Authorization,
  more: Record<string, string> = {},
): Promise<Answer> {
  const code = url.searchParams.get('code') ?? '';
  const form = { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier, ...more };
  return askForTokens(service, application, form);
}

/** The claims of a JWT, unverified. */
export const claimsOf = (jwt: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A key of an application, and its proofs (RFC 9449). */
export function proofs() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  return (method: string, url: string, token?: string): string => {
    const ath = token && createHash('sha256').update(token).digest('base64url');
    const head = base64url({ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } });
    const body = base64url({ jti: randomUUID(), htm: method, htu: url, iat: Math.floor(Date.now() / 1000), ath });
    const signature = sign('sha256', Buffer.from(`${head}.${body}`), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${head}.${body}.${signature.toString('base64url')}`;
  };
}
