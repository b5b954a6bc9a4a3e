import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose';
import { CountingProxy } from '../support/counting-proxy';
import { post } from '../support/post';
import { ProofMaker } from '../support/proof';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, password, testSettings } from '../support/settings';

const introspect = '/introspect';
const jwks = '/.well-known/jwks.json';
const audience = 'portal';
/** Where clients reach the services: a proxy would be in front of them. */
const ordersUrl = 'https://orders.example.com';

/** No test depends on it: it is longer than a busy machine takes. */
const timeoutMs = 60_000;

const newKeyPem = () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
};

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

/** Small services in processes of their own, beside the built service and a proxy that counts their questions. */
describe('services that use @portal-auth/guard', () => {
  const pem = newKeyPem();
  let directory: string;
  let env: Record<string, string>;
  let auth: ServiceProcess;
  let proxy: CountingProxy;
  const apps: Record<string, ServiceProcess> = {};

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'guard-'));
    const DATABASE_URL = `sqlite:${join(directory, 'auth.sqlite')}`;
    const keys = { JWT_ALGORITHM: 'ES256', JWT_PRIVATE_KEY: pem };
    env = { ...testSettings, ...keys, DATABASE_URL, DATA_DIR: directory, PORT: `${await freePort()}` };
    await cli('user', 'create', '--login-name', 'ann', '--email', 'ann@example.com', '--password', password);
    const { id: clientId, secret: clientSecret } = await cli('client', 'create', 'invoices');
    proxy = await CountingProxy.start(Number(env.PORT));

    const common = { issuer: testSettings.SYSTEM_URL, audience, timeoutMs };
    const client = { introspectionUrl: proxy.url + introspect, clientId, clientSecret };
    const exact = { ...common, ...client, mode: 'introspection' };
    const local = { ...common, mode: 'jwks', jwksUrl: proxy.url + jwks };
    const verifiers = {
      exact,
      local,
      both: { ...local, ...client },
      cached: { ...exact, maxStaleSeconds: 3600 },
      hasty: { ...exact, timeoutMs: 50 },
      bound: { ...local, ...client, origins: ordersUrl },
      strict: { ...local, origins: ordersUrl, requireBinding: true },
      'wrong-client': { ...exact, clientSecret: 'not-the-secret' },
    };
    const start = async (script: string) =>
      (apps[script.replace(/\..*/, '')] = await ServiceProcess.start({
        script: `guard/test/services/${script}`,
        env: { VERIFIERS: JSON.stringify(verifiers) },
        ready: '/health',
      }));
    const starts = ['express.mjs', 'fastify.cjs', 'nest.mjs'].map(start);
    [auth] = await Promise.all([ServiceProcess.start({ env }), ...starts]);
  });
  afterEach(() => {
    proxy.answer = undefined;
    proxy.release();
  });
  afterAll(async () => {
    await Promise.all([auth, ...Object.values(apps)].map((service) => service?.kill()));
    await proxy.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function cli(...args: string[]): Promise<any> {
    const { code, stdout, stderr } = await runProgram('dist/src/cli.js', [...args, '--json'], { env, cwd: directory });
    if (code !== 0) throw new Error(`${args.slice(0, 2).join(' ')}: ${stderr}`);
    return JSON.parse(stdout);
  }

  async function restart(settings: Record<string, string> = {}): Promise<void> {
    await auth.kill();
    env = { ...env, ...settings };
    auth = await ServiceProcess.start({ env });
  }

  async function logIn(): Promise<Tokens> {
    const { status, body } = await post(auth, '/login', { username: 'ann', password, captcha_token: captchaToken });
    expect(status).toBe(200);
    return { access: body.data.access_token, refresh: body.data.refresh_token };
  }

  async function ask(framework: string, verifier: string, token?: string, path = 'whoami'): Promise<Reply> {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${apps[framework]!.url}/${verifier}/${path}`, { headers });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }
  const statusOf = async (framework: string, verifier: string, token: string) =>
    (await ask(framework, verifier, token)).status;

  function expectUnavailable({ status, headers, body }: Reply, retryAfter = '1'): void {
    expect({ status, body }).toEqual({
      status: 503,
      body: { error: 'temporarily_unavailable', error_description: expect.stringContaining('cannot be checked') },
    });
    expect(headers.get('retry-after')).toBe(retryAfter);
    expect(headers.get('www-authenticate')).toBeNull();
    expect(headers.get('content-type')).toMatch(/^application\/json/);
  }

  const resign = (payload: JWTPayload, { kid }: { kid?: string }, key: KeyObject = createPrivateKey(pem)) =>
    new SignJWT(payload).setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid }).sign(key);

  describe.each(['express', 'fastify', 'nest'])('on %s', (framework) => {
    it('a live token passes, and the handler knows who calls', async () => {
      const { access } = await logIn();
      const claims = decodeJwt(access);
      delete claims.token_use;
      const exact = await ask(framework, 'exact', access);
      const known = { username: 'ann', is_admin: false, verified_by: 'introspection' };
      expect(exact).toMatchObject({ status: 200, body: { ...claims, ...known } });
      const { body } = await ask(framework, 'local', access);
      expect(body).toEqual({ ...claims, verified_by: 'signature', verified_at: expect.any(Number) });
    });

    it('a request without a token is asked for one, without an error code (RFC 6750 §3.1)', async () => {
      const { status, headers, body } = await ask(framework, 'exact');
      expect({ status, body }).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
      expect(headers.get('www-authenticate')).toBe('Bearer realm="portal"');
      expect(headers.get('cache-control')).toBe('no-store');
    });

    it.each(['exact', 'local', 'both'])(
      '%s: foreign, forged, expired and refresh tokens are 401 (T333)',
      async (verifier) => {
        const { access, refresh } = await logIn();
        const [payload, header] = [decodeJwt(access), decodeProtectedHeader(access)];
        const [head, body] = access.split('.') as [string, string];
        const publicKey = createPublicKey(pem).export({ type: 'spki', format: 'pem' });
        const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
        const hs256 = `${encoded({ ...header, alg: 'HS256' })}.${body}`;
        const otherKey = createPrivateKey(newKeyPem());
        const refused = {
          foreign: await resign(payload, { kid: 'another-service' }, otherKey),
          forged: await resign({ ...payload, sub: 'root' }, header, otherKey),
          changed: `${head}.${encoded({ ...payload, tenant_id: 'other' })}.${access.split('.')[2]}`,
          none: `${encoded({ alg: 'none', typ: 'JWT' })}.${body}.`,
          confused: `${hs256}.${createHmac('sha256', publicKey).update(hs256).digest('base64url')}`,
          expired: await resign({ ...payload, exp: payload.iat, iat: payload.iat! - 60 }, header),
          early: await resign({ ...payload, nbf: payload.iat! + 86_400 }, header),
          issuer: await resign({ ...payload, iss: 'http://other.test' }, header),
          audience: await resign({ ...payload, aud: 'shop' }, header),
          refresh,
          nonsense: 'x',
          empty: '',
        };
        for (const [what, token] of Object.entries(refused)) {
          const answer = await ask(framework, verifier, token);
          expect([what, answer.status, answer.body]).toMatchObject([what, 401, { error: 'invalid_token' }]);
          expect(answer.headers.get('www-authenticate')).toMatch(
            /^Bearer realm="portal", error="invalid_token", error_de/,
          );
        }
      },
    );

    it('a route that demands a fresh sign-in with two factors tells the client so, and never guesses (T354)', async () => {
      const { access } = await logIn();
      const [claims, header] = [decodeJwt(access), decodeProtectedHeader(access)];
      const two = 'urn:portal:acr:2';
      const refused = async (verifier: string, token: string) => {
        const { status, headers, body } = await ask(framework, verifier, token, 'payments');
        expect([status, body.error]).toEqual([401, 'insufficient_user_authentication']);
        return headers.get('www-authenticate');
      };
      for (const verifier of ['exact', 'local', 'both', 'cached']) {
        expect(await refused(verifier, access)).toMatch(
          /second factor\.", max_age="3600", acr_values="urn:portal:acr:2"$/,
        );
        expect(await statusOf(framework, verifier, access)).toBe(200);
      }
      expect((await ask(framework, 'local', await resign({ ...claims, acr: two }, header), 'payments')).status).toBe(
        200,
      );
      const old = { ...claims, acr: two, auth_time: claims.iat! - 7200 };
      expect(await refused('local', await resign(old, header))).toContain('sign in again');
      await refused('local', await resign({ ...claims, auth_time: undefined, acr: undefined, amr: ['otp'] }, header));
      await refused('local', await resign({ ...claims, auth_time: undefined, acr: two }, header));
      const forged = await resign({ ...old, acr: two }, header, createPrivateKey(newKeyPem()));
      expect((await ask(framework, 'local', forged, 'payments')).body.error).toBe('invalid_token');
    });

    it('a bound token passes with a proof of its key, once, and never without it (T440, T442)', async () => {
      const key = ProofMaker.make({ now: () => new Date() });
      const credentials = { username: 'ann', password, captcha_token: captchaToken };
      const { body } = await post(auth, '/login', credentials, key.headers('POST', '/login'));
      const { access_token: access, refresh_token: refresh } = body.data;
      const send = async (verifier: string, headers: Record<string, string>): Promise<Reply> => {
        const response = await fetch(`${apps[framework]!.url}/${verifier}/whoami?page=2`, { headers });
        return { status: response.status, headers: response.headers, body: await response.json() };
      };
      const proven = (verifier: string, by = key, origin = ordersUrl) => {
        const path = `/${verifier}/whoami`;
        return by.with(access, 'GET', path, { claims: { htu: origin + path } });
      };
      for (const verifier of ['bound', 'strict']) {
        const headers = proven(verifier);
        expect(await send(verifier, headers)).toMatchObject({ status: 200, body: { cnf: { jkt: key.thumbprint } } });
        const refused = [
          headers,
          proven(verifier, ProofMaker.make({ now: () => new Date() })),
          proven(verifier, key, 'https://evil.example'),
          { authorization: `DPoP ${access}` },
          { ...proven(verifier), authorization: `Bearer ${access}` },
        ];
        for (const one of refused) {
          const answer = await send(verifier, one);
          expect(answer.status).toBe(401);
          expect(answer.headers.get('www-authenticate')).toMatch(
            /^DPoP realm="portal", error="invalid_.+, algs="ES256 EdDSA"$/,
          );
        }
      }
      // Without its origin the guard cannot tell what the proof has to name.
      expectUnavailable(await send('both', proven('both')));
      const { access: unbound } = await logIn();
      expect([await statusOf(framework, 'bound', unbound), await statusOf(framework, 'strict', unbound)]).toEqual([
        200, 401,
      ]);
      await post(auth, '/logout', {}, key.with(refresh, 'POST', '/logout'));
      expect((await send('bound', proven('bound'))).status).toBe(401);
      expect((await send('strict', proven('strict'))).status).toBe(200);
    });

    it('a logout is seen at once by the service that asks', async () => {
      const { access } = await logIn();
      for (const verifier of ['exact', 'both', 'local', 'cached']) {
        expect([verifier, await statusOf(framework, verifier, access)]).toEqual([verifier, 200]);
      }
      await post(auth, '/logout', {}, { authorization: `Bearer ${access}` });
      for (const verifier of ['exact', 'both']) {
        expect([verifier, await statusOf(framework, verifier, access)]).toEqual([verifier, 401]);
      }
      // The other two were allowed not to see it: `local` until the token expires, `cached` for an hour.
      for (const verifier of ['local', 'cached']) {
        expect([verifier, await statusOf(framework, verifier, access)]).toEqual([verifier, 200]);
      }
    });

    it('40 parallel requests with one token are one question', async () => {
      const { access } = await logIn();
      const health = async () => (await (await fetch(`${apps[framework]!.url}/health`)).json()) as { arrived: number };
      const [before, { arrived }] = [proxy.countOf(introspect), await health()];
      proxy.hold();
      const requests = Array.from({ length: 40 }, () => statusOf(framework, 'exact', access));
      const allArrived = async () => (await health()).arrived >= arrived + 40;
      await eventually(allArrived, { what: 'all requests at the service' });
      await eventually(() => proxy.countOf(introspect) > before, { what: 'the question at the proxy' });
      proxy.release();
      expect(new Set(await Promise.all(requests))).toEqual(new Set([200]));
      expect(proxy.countOf(introspect) - before).toBe(1);
    });

    it('an answer of the cache costs no question', async () => {
      const { access } = await logIn();
      const before = proxy.countOf(introspect);
      for (let n = 0; n < 5; n += 1) expect(await statusOf(framework, 'cached', access)).toBe(200);
      expect(proxy.countOf(introspect) - before).toBe(1);
    });

    it.each([
      ['429', { 'retry-after': '9' }, '9'],
      ['503', {}, '1'],
      ['200', {}, '1'],
    ])('%s without an answer about the token is 503, never 401 (T334)', async (status, headers, retryAfter) => {
      const { access } = await logIn();
      proxy.answer = (response) => response.writeHead(Number(status), headers).end('<html>');
      for (const verifier of ['exact', 'both']) expectUnavailable(await ask(framework, verifier, access), retryAfter);
      expect(await statusOf(framework, 'local', access)).toBe(200);
    });

    it('a service that does not answer in time is 503', async () => {
      const { access } = await logIn();
      proxy.hold();
      expectUnavailable(await ask(framework, 'hasty', access));
    });

    it('a wrong secret of the client is 503: the user has done nothing wrong', async () => {
      expectUnavailable(await ask(framework, 'wrong-client', (await logIn()).access));
    });
  });

  it('nest: a route with @Public() needs no token', async () => {
    expect(await ask('nest', 'exact', undefined, 'open')).toMatchObject({ status: 200, body: { open: true } });
  });

  const everywhere = (verifier: string, token: string) =>
    Promise.all(Object.keys(apps).map((framework) => ask(framework, verifier, token)));
  const statuses = async (verifier: string, token: string) =>
    (await everywhere(verifier, token)).map(({ status }) => status);

  it('while the service is down only known keys are used; after its restart the sessions go on', async () => {
    const { access } = await logIn();
    expect(await statuses('local', access)).toEqual([200, 200, 200]);
    const later = await logIn();
    await auth.kill();
    for (const reply of await everywhere('exact', later.access)) expectUnavailable(reply);
    for (const reply of await everywhere('both', later.access)) expectUnavailable(reply);
    expect(await statuses('local', later.access)).toEqual([200, 200, 200]);
    // What cannot be valid is refused without the service.
    expect(await statuses('exact', later.refresh)).toEqual([401, 401, 401]);
    await restart();
    for (const verifier of ['exact', 'both', 'local']) {
      expect(await statuses(verifier, later.access)).toEqual([200, 200, 200]);
    }
  });

  it('a new signing key is accepted at once, the former one as long as the service has it', async () => {
    const before = await logIn();
    expect(await statuses('local', before.access)).toEqual([200, 200, 200]);
    const fresh = newKeyPem();
    const former = createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
    await restart({ JWT_PRIVATE_KEY: fresh, JWT_PREVIOUS_KEYS: former });
    const after = await logIn();
    expect(decodeProtectedHeader(after.access).kid).not.toBe(decodeProtectedHeader(before.access).kid);
    for (const verifier of ['local', 'exact', 'both']) {
      expect(await statuses(verifier, after.access)).toEqual([200, 200, 200]);
      expect(await statuses(verifier, before.access)).toEqual([200, 200, 200]);
    }

    await restart({ JWT_PREVIOUS_KEYS: '' });
    expect(await statuses('exact', before.access)).toEqual([401, 401, 401]);
    // A token of an unknown key makes the guard fetch the keys again, and with them the former one is gone.
    const unknown = await resign(decodeJwt(after.access), { kid: 'unknown' }, createPrivateKey(newKeyPem()));
    for (const verifier of ['local', 'both']) {
      expect(await statuses(verifier, unknown)).toEqual([401, 401, 401]);
      expect(await statuses(verifier, before.access)).toEqual([401, 401, 401]);
      expect(await statuses(verifier, after.access)).toEqual([200, 200, 200]);
    }
  });
});
