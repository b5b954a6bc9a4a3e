import { type Answer, password, TestService } from '../support/app';
import { named, routes } from '../support/routes';

const portal = 'https://portal.example.com';
const preflight = (origin: string) => ({
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type',
});
const grants = ({ headers }: Answer) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-allow-origin'));

describe('CORS_ORIGINS (T217)', () => {
  describe('when it is not set', () => {
    let service: TestService;
    beforeAll(async () => {
      service = await TestService.start();
    });
    afterAll(() => service.stop());

    it.each(named(routes))('%s allows no origin', async (_name, { method, path, body }) => {
      const answers = [
        await service.send(method, path, body, { headers: { origin: portal } }),
        await service.send('OPTIONS', path, undefined, { headers: preflight(portal) }),
      ];
      expect(answers.flatMap(grants)).toEqual([]);
      expect(answers[1]?.status).toBe(405);
    });
  });

  describe('when it is set', () => {
    let service: TestService;
    beforeAll(async () => {
      service = await TestService.start({ CORS_ORIGINS: `${portal},http://localhost:5173` });
      await service.givenUser('crossing');
    });
    afterAll(() => service.stop());

    it.each([portal, 'http://localhost:5173'])('%s may read every answer, also errors', async (origin) => {
      for (const answer of [
        await service.login('crossing', password, {}, { headers: { origin } }),
        await service.login('crossing', 'wrong', {}, { headers: { origin } }),
        await service.get('/user/me', { headers: { origin } }),
        await service.get('/nowhere', { headers: { origin } }),
        await service.get('/login', { headers: { origin } }),
        await service.send('POST', '/login', '{', { headers: { origin, 'content-type': 'application/json' } }),
      ]) {
        expect(answer.headers).toMatchObject({
          'access-control-allow-origin': origin,
          vary: expect.stringMatching(/origin/i),
        });
      }
    });

    it.each([
      'https://evil.example',
      'null',
      'http://portal.example.com',
      'https://portal.example.com.evil.example',
      'https://evil-portal.example.com',
      'https://PORTAL.example.com:443',
      `${portal}:8443`,
      `${portal}/`,
    ])('%s is not allowed', async (origin) => {
      const answers = [
        await service.login('crossing', password, {}, { headers: { origin } }),
        await service.send('OPTIONS', '/login', undefined, { headers: preflight(origin) }),
      ];
      expect(answers.flatMap(grants)).toEqual([]);
      // A cache must not serve the answer for one origin to another.
      for (const { headers } of answers) expect(String(headers.vary)).toMatch(/origin/i);
    });

    it('credentials are never allowed, and the wildcard is never answered', async () => {
      for (const origin of [portal, '*', 'https://evil.example']) {
        const { headers } = await service.send('OPTIONS', '/login', undefined, { headers: preflight(origin) });
        expect(headers['access-control-allow-origin']).not.toBe('*');
        expect(headers).not.toHaveProperty('access-control-allow-credentials');
      }
    });

    it('only the routes of a sign-in at an application or at an identity provider allow the cookie of their browser', async () => {
      const other = await TestService.start({ CORS_ORIGINS: portal, OIDC: 'on' });
      const allowed = async (origin: string, path: string) =>
        (await other.send('OPTIONS', path, undefined, { headers: preflight(origin) })).headers[
          'access-control-allow-credentials'
        ];
      expect(await allowed(portal, '/applications/interactions/abc')).toBe('true');
      for (const path of [
        '/login/external',
        '/login/external/acme',
        '/user/reauthenticate',
        '/admin/identity-providers/acme/test',
      ])
        expect([path, await allowed(portal, path)]).toEqual([path, 'true']);
      expect(await allowed('https://evil.example', '/login/external')).toBeUndefined();
      expect(await allowed('https://evil.example', '/applications/interactions/abc')).toBeUndefined();
      for (const path of [
        '/login',
        '/login/passkey',
        '/refresh',
        '/user/me?x=/applications/interactions/abc',
        '/user/applications',
        '/admin/identity-providers/acme',
        '/admin/identity-providers/acme/test/result',
      ])
        expect([path, await allowed(portal, path)]).toEqual([path, undefined]);
      await other.stop();
    });

    it('a preflight request has no side effect', async () => {
      const logs = await service.count('login_logs');
      const answer = await service.send('OPTIONS', '/login', undefined, { headers: preflight(portal) });
      expect(answer.status).toBe(204);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': portal,
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': expect.stringMatching(/authorization/i),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      expect(await service.count('login_logs')).toBe(logs);
    });

    it('an OPTIONS request that is not a preflight is answered with 405, or 204 without a body', async () => {
      const { status, raw } = await service.send('OPTIONS', '/login');
      expect([204, 405]).toContain(status);
      if (status === 204) expect(raw).toHaveLength(0);
    });
  });
});

describe('API_PREFIX', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ API_PREFIX: '/api/v1' });
  });
  afterAll(() => service.stop());

  it.each(named(routes.filter(({ missing }) => !missing)))(
    '%s is below the prefix, except for the paths that clients expect at the root',
    async (_name, route) => {
      const { method, path, body, atRoot = false } = route;
      const [prefixed, plain] = [
        await service.send(method, `/api/v1${path}`, body),
        await service.send(method, path, body),
      ];
      const missing = (answer: Answer) => answer.body?.error_code === 'COMMON_404001';
      const everywhere = path.startsWith('/openapi');
      expect({ prefixed: missing(prefixed), plain: missing(plain) }).toEqual({
        prefixed: atRoot && !everywhere,
        plain: !atRoot,
      });
    },
  );

  it('the OpenAPI document contains the paths with the prefix', async () => {
    const { body } = await service.get('/openapi.json');
    const paths = Object.keys(body.paths as object);
    expect(paths).toEqual(expect.arrayContaining(['/api/v1/login', '/api/v1/refresh', '/api/v1/logout']));
    expect(paths).not.toContain('/login');
  });
});
