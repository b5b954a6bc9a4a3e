import { adminRoutes } from '../support/admin';
import { TestService, tally } from '../support/app';
import { MfaClient } from '../support/mfa';

/** Limits that are smaller than in production (docs/operations/rate-limits.md). */
const limited = {
  RATE_LIMIT: 'on',
  RATE_LIMIT_LOGIN: '5',
  RATE_LIMIT_OTP: '20',
  RATE_LIMIT_CAPTCHA: '5',
  RATE_LIMIT_FORGOT_PASSWORD: '20',
  RATE_LIMIT_OTHER: '8',
  RATE_LIMIT_TARGET: '3',
};

describe('rate limits', () => {
  let service: TestService;

  beforeEach(async () => {
    service = await TestService.start(limited);
  });

  afterEach(() => service.stop());

  const codes = async (
    count: number,
    ask: (n: number) => Promise<{ status: number; body: { error_code?: string } }>,
  ) => {
    const seen: string[] = [];
    for (let n = 0; n < count; n++) {
      const { status, body } = await ask(n);
      seen.push(body?.error_code ?? String(status));
    }
    return seen;
  };

  it('request N+1 of an address is answered with COMMON_429001 and retry_after, and another address is not limited (T049)', async () => {
    expect(await codes(5, () => service.login('nobody'))).toEqual(Array(5).fill('LOGIN_404001'));
    const refused = await service.login('nobody');
    expect(refused).toMatchObject({ status: 429, body: { error_code: 'COMMON_429001' } });
    const seconds = Number(refused.body.data.retry_after);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(refused.headers['retry-after']).toBe(String(seconds));
    expect((await service.login('nobody', 'x', {}, { ip: '203.0.113.9' })).body.error_code).toBe('LOGIN_404001');
  });

  it('a query, another case, a slash or a header does not start a new count (T049)', async () => {
    await codes(5, () => service.login('nobody'));
    const body = { username: 'nobody', password: 'x', captcha_token: 'x' };
    for (const path of ['/login?x=1', '/login?', '/login#x']) {
      expect((await service.post(path, body)).body.error_code).toBe('COMMON_429001');
    }
    for (const path of ['/LOGIN', '/login/', '//login', '/%6Cogin']) {
      expect((await service.post(path, body)).body.error_code).toMatch(/^COMMON_(404|429)001$/);
    }
    const others: Record<string, string>[] = [
      { 'x-forwarded-for': '1.2.3.4' },
      { 'user-agent': 'Googlebot' },
      { 'x-real-ip': '1.2.3.4' },
    ];
    for (const headers of others) {
      expect((await service.post('/login', body, { headers })).body.error_code).toBe('COMMON_429001');
    }
  });

  it('the addresses of one /64, and the spellings of one address, share a count (T048)', async () => {
    const from = (ip: string) => service.login('nobody', 'x', {}, { ip });
    await codes(5, (n) => from(`2001:db8:1:2:${n}::7`));
    expect((await from('2001:db8:1:2:ffff::1')).status).toBe(429);
    expect((await from('2001:db8:1:3::1')).status).toBe(404);
    await codes(5, () => from('::ffff:198.51.100.4'));
    expect((await from('198.51.100.4')).status).toBe(429);
  });

  it('requests that fail validation or authentication are counted as well', async () => {
    expect(await codes(5, () => service.post('/login', {}))).toEqual(Array(5).fill('COMMON_400001'));
    expect((await service.post('/login', {})).body.error_code).toBe('COMMON_429001');
    expect(await codes(8, () => service.get('/user/me'))).toEqual(Array(8).fill('AUTH_401001'));
    expect((await service.get('/user/me')).body.error_code).toBe('COMMON_429001');
  });

  it('a refused request neither counts as a failed login nor writes a login log', async () => {
    const { uid, loginName } = await service.givenUser('alice');
    await codes(5, () => service.login('nobody'));
    const rows = await service.count('login_logs');
    expect((await service.login(loginName, 'wrong')).status).toBe(429);
    expect((await service.userRow(uid)).login_failed_count).toBe(0);
    expect(await service.count('login_logs')).toBe(rows);
  });

  it('the routes of a group share a count, and each group has its own', async () => {
    await codes(6, () => service.login('nobody'));
    expect((await service.post('/verify-captcha', { captcha_token: 'x' })).status).not.toBe(429);
    await codes(4, () => service.get('/captcha/challenge'));
    expect((await service.post('/verify-captcha', { captcha_token: 'x' })).status).toBe(429);
  });

  it('requests for one e-mail address are counted together, from any client and in any spelling', async () => {
    const ask = (email: string, n: number) => service.post('/forget-password', { email }, { ip: `203.0.113.${n}` });
    expect(await codes(3, (n) => ask('nobody@example.com', n))).toEqual(Array(3).fill('AUTH_404002'));
    expect((await ask('NOBODY@example.com ', 9)).body.error_code).toBe('COMMON_429001');
    expect((await ask('other@example.com', 9)).body.error_code).toBe('AUTH_404002');
  });

  it('requests for one reset link are counted together, from any client', async () => {
    const uid = '00000000-0000-4000-8000-000000000001';
    const link = (n: number) => service.get(`/user/change-pwd-req/${uid}`, { ip: `203.0.113.${n}` });
    expect(await codes(3, link)).toEqual(Array(3).fill('AUTH_401003'));
    expect((await link(9)).body.error_code).toBe('COMMON_429001');
  });

  it('requests for a pending login are counted by its mfa_token, or by the client address when there is none', async () => {
    const uid = '00000000-0000-4000-8000-000000000001';
    const ask = (ip: string, mfa_token?: string) =>
      service.post('/otp-verify', { uid, type: 'email', code: '000000', mfa_token }, { ip });
    expect(await codes(3, (n) => ask(`203.0.113.${n}`, 'token'))).toEqual(Array(3).fill('MFA_401001'));
    expect((await ask('203.0.113.9', 'token')).body.error_code).toBe('COMMON_429001');
    expect(await codes(3, () => ask('203.0.113.1'))).toEqual(Array(3).fill('MFA_401001'));
    expect((await ask('203.0.113.1')).body.error_code).toBe('COMMON_429001');
    expect((await ask('203.0.113.2')).body.error_code).toBe('MFA_401001');
  });

  it.each([
    ['junk mfa_tokens', (n: number) => ({ mfa_token: `junk ${n}` })],
    ['one junk mfa_token', () => ({ mfa_token: 'junk' })],
    ['no mfa_token', () => ({})],
  ])('a stranger with %s cannot lock the owner out of the second factor', async (_what, more) => {
    await MfaClient.with({ ...limited, RATE_LIMIT_OTP: '100' }, async (mfa) => {
      const user = await mfa.givenUser('owner');
      const { uid, mfaToken } = await mfa.logIn('owner');
      const stranger = { ip: '203.0.113.66' };
      for (let n = 0; n < 11; n++) {
        await mfa.verify(uid, 'email', '000000', more(n), stranger);
        await mfa.resend(uid, 'email', more(n), stranger);
      }
      mfa.service.clock.advanceSeconds(61);
      expect((await mfa.resend(uid, 'email', { mfa_token: mfaToken })).status).toBe(200);
      const code = await mfa.lastCode(user);
      expect((await mfa.verify(uid, 'email', code, { mfa_token: mfaToken })).status).toBe(200);
    });
  });

  it('a client that is over its own limit does not use up the limit of a target', async () => {
    const ask = (ip: string, email: string) => service.post('/forget-password', { email }, { ip });
    await codes(20, (n) => ask('203.0.113.1', `filler${n}@example.com`));
    expect(await codes(5, () => ask('203.0.113.1', 'victim@example.com'))).toEqual(Array(5).fill('COMMON_429001'));
    expect((await ask('203.0.113.2', 'victim@example.com')).body.error_code).toBe('AUTH_404002');
  });

  it('health probes, keys and the OpenAPI documents are not limited', async () => {
    for (const path of [
      '/health/live',
      '/health/ready',
      '/.well-known/jwks.json',
      '/openapi.json',
      '/openapi-3.0.json',
    ]) {
      const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await service.get(path)).status));
      expect(statuses).not.toContain(429);
    }
  });

  it('API_PREFIX does not change the limits', async () => {
    const prefixed = await TestService.start({ ...limited, API_PREFIX: '/api/v1' });
    try {
      const ask = () =>
        prefixed.post('/api/v1/login', { username: 'a', password: 'b', captcha_token: 'test-captcha-token' });
      expect(tally(await Promise.all(Array.from({ length: 7 }, ask)))).toEqual({ LOGIN_404001: 5, COMMON_429001: 2 });
      const forgot = (n: number) =>
        prefixed.post('/api/v1/forget-password', { email: 'a@example.com' }, { ip: `203.0.113.${n}` });
      expect(await codes(4, forgot)).toEqual([...Array<string>(3).fill('AUTH_404002'), 'COMMON_429001']);
      expect((await prefixed.get('/health/live')).status).toBe(200);
    } finally {
      await prefixed.stop();
    }
  });

  it.each(['false', 'true'])(
    'the refreshes of one session are counted together, from any address, and with a good signature only (rotation %s)',
    async (rotation) => {
      const settings = { RATE_LIMIT: 'on', RATE_LIMIT_SESSION: '3', REFRESH_TOKEN_ROTATION: rotation };
      const own = await TestService.start(settings);
      try {
        await own.givenUser('alice');
        let token = (await own.session('alice')).refresh;
        const other = (await own.session('alice')).refresh;
        const refresh = (bearer: string, ip: string) => own.post('/refresh', undefined, { bearer, ip });
        // Whoever knows a sid must not be able to use up the limit of its session.
        const forged = `${token.slice(0, -4)}AAAA`;
        for (let n = 0; n < 5; n++) expect((await refresh(forged, '203.0.113.1')).body.error_code).toBe('AUTH_401006');
        for (let n = 0; n < 3; n++) {
          const { status, body } = await refresh(token, `203.0.113.${n}`);
          expect(status).toBe(200);
          token = body.data.refresh_token as string;
        }
        const before = await own.count('login_tokens', '1 = 1');
        const refused = await refresh(token, '203.0.113.9');
        expect(refused).toMatchObject({ status: 429, body: { error_code: 'COMMON_429001' } });
        const seconds = Number(refused.body.data.retry_after);
        expect(seconds).toBeGreaterThan(0);
        expect(seconds).toBeLessThanOrEqual(60);
        expect(refused.headers['retry-after']).toBe(String(seconds));
        expect(await own.count('login_tokens', '1 = 1')).toBe(before);
        expect((await refresh(other, '203.0.113.9')).status).toBe(200);
        expect((await own.post('/logout', undefined, { bearer: token })).status).toBe(200);
      } finally {
        await own.stop();
      }
    },
  );

  it('RATE_LIMIT=off disables all limits', async () => {
    const free = await TestService.start({ ...limited, RATE_LIMIT: 'off' });
    try {
      const answers = await Promise.all(Array.from({ length: 30 }, () => free.login('nobody')));
      expect(tally(answers)).toEqual({ LOGIN_404001: 30 });
    } finally {
      await free.stop();
    }
  });
});

const uid = '00000000-0000-4000-8000-000000000001';

/** Sends one request without a usable body: a request that is refused later is counted as well. */
type Ask = (n: number) => { readonly ip: string; readonly body?: object; readonly path?: string };

const statusOf = async (
  service: TestService,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  { ip, body, path: own }: ReturnType<Ask>,
) => {
  const type = { '/introspect': 'application/x-www-form-urlencoded', '/admin/users/import': 'text/csv' }[path];
  const sent = body ?? (method === 'POST' ? (type === undefined ? {} : 'token=x') : undefined);
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
  const answer = await service.send(method, own ?? path, sent, { ip, headers });
  return (answer.body as { error_code?: string } | undefined)?.error_code ?? String(answer.status);
};

describe('the limit of each route', () => {
  const perGroup = { login: 2, otp: 3, captcha: 4, forgotPassword: 5, other: 6, introspection: 7 } as const;
  const routes: [method: Parameters<typeof statusOf>[1], path: string, group: keyof typeof perGroup][] = [
    ['POST', '/login', 'login'],
    ['POST', '/login/passkey-options', 'other'],
    ['POST', '/login/passkey', 'login'],
    ['POST', '/login/external', 'login'],
    ['POST', '/login/external/{id}', 'other'],
    ['POST', '/otp-verify', 'otp'],
    ['POST', '/otp-resend', 'otp'],
    ['GET', '/otp-qrcode/{uid}', 'otp'],
    ['POST', '/verify-captcha', 'captcha'],
    ['GET', '/captcha/challenge', 'captcha'],
    ['POST', '/forget-password', 'forgotPassword'],
    ['GET', '/user/change-pwd-req/{uid}', 'other'],
    ['POST', '/user/change-pwd-by-req', 'other'],
    ['GET', '/password-policy', 'other'],
    ['GET', '/capabilities', 'other'],
    ['POST', '/totp-secret', 'other'],
    ['POST', '/refresh', 'other'],
    ['POST', '/logout', 'other'],
    ['POST', '/login/discover', 'other'],
    ['GET', '/user/me', 'other'],
    ['POST', '/user/change-password', 'login'],
    ['POST', '/user/reauthenticate', 'login'],
    ['GET', '/user/sessions', 'other'],
    ['DELETE', '/user/sessions', 'other'],
    ['DELETE', '/user/sessions/{sid}', 'other'],
    ['GET', '/user/login-history', 'other'],
    ['POST', '/introspect', 'introspection'],
    ['GET', '/verify', 'introspection'],
    ['POST', '/recovery-codes', 'other'],
    ['GET', '/recovery-codes', 'other'],
    ['POST', '/passkeys/options', 'other'],
    ['POST', '/passkeys', 'other'],
    ['GET', '/passkeys', 'other'],
    ['PATCH', '/passkeys/{id}', 'other'],
    ['DELETE', '/passkeys/{id}', 'other'],
    ['GET', '/user/devices', 'other'],
    ['DELETE', '/user/devices/{id}', 'other'],
    ['GET', '/applications/interactions/{uid}', 'other'],
    ['POST', '/applications/interactions/{uid}', 'other'],
    ['GET', '/user/applications', 'other'],
    ['GET', '/user/grants', 'other'],
    ['DELETE', '/user/grants/{id}', 'other'],
    ...adminRoutes().map((route): [Parameters<typeof statusOf>[1], string, 'other' | 'forgotPassword'] => {
      const [method, path = ''] = route.split(' ');
      const mails = /\/(invite|send-reset-link)$/.test(path);
      return [method as 'GET', path.replace(/:(\w+)/g, '{$1}'), mails ? 'forgotPassword' : 'other'];
    }),
  ];

  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({
      ADMIN_API: 'on',
      OIDC: 'on',
      EVENT_RECEIVERS: 'on',
      RATE_LIMIT: 'on',
      RATE_LIMIT_LOGIN: String(perGroup.login),
      RATE_LIMIT_OTP: String(perGroup.otp),
      RATE_LIMIT_CAPTCHA: String(perGroup.captcha),
      RATE_LIMIT_FORGOT_PASSWORD: String(perGroup.forgotPassword),
      RATE_LIMIT_OTHER: String(perGroup.other),
      RATE_LIMIT_INTROSPECTION: String(perGroup.introspection),
      RATE_LIMIT_TARGET: '100',
    });
  });
  afterAll(() => service.stop());

  it('is tested below for every route of the OpenAPI document', async () => {
    const { paths } = (await service.get('/openapi.json')).body as { paths: Record<string, object> };
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(routes.map(([method, path]) => `${method} ${path}`).sort()).toEqual(documented.sort());
  });

  it.each(routes.map((route, index) => [...route, `198.51.100.${index}`] as const))(
    '%s %s has the limit of the group %s',
    async (method, path, group, ip) => {
      const asked = { ip, path: path.replace(/\{\w+\}/g, uid) };
      const seen: string[] = [];
      for (let n = 0; n <= perGroup[group]; n++) seen.push(await statusOf(service, method, path, asked));
      expect(seen.slice(0, -1)).not.toContain('COMMON_429001');
      expect(seen.at(-1)).toBe('COMMON_429001');
    },
  );
});

describe('the limit of the target of each route', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ ADMIN_API: 'on', RATE_LIMIT: 'on', RATE_LIMIT_TARGET: '2' });
  });
  afterAll(() => service.stop());

  const elsewhere = (n: number) => `203.0.113.${n}`;
  const home = '198.51.100.7';
  const code = { type: 'email', code: '000000' };

  const users = Array.from({ length: 9 }, (_, n) => uid.replace('1', String(n)));
  const mailsOf = (what: string): [same: Ask, other: Ask] => [
    (n) => ({ ip: elsewhere(n), path: `/admin/users/${users[1]}/${what}` }),
    (n) => ({ ip: elsewhere(n), path: `/admin/users/${users[2]}/${what}` }),
  ];

  it.each<['GET' | 'POST' | 'PATCH', string, same: Ask, other: Ask]>([
    ['POST', '/admin/users/{uid}/invite', ...mailsOf('invite')],
    ['POST', '/admin/users/{uid}/send-reset-link', ...mailsOf('send-reset-link')],
    [
      'POST',
      '/admin/users',
      (n) => ({ ip: elsewhere(n), body: { login_name: `user ${n}`, email: 'a@example.com' } }),
      (n) => ({ ip: elsewhere(n), body: { login_name: `user ${n}`, email: 'b@example.com' } }),
    ],
    [
      'PATCH',
      '/admin/users/{uid}',
      (n) => ({ ip: elsewhere(n), path: `/admin/users/${users[n]}`, body: { email: 'a@example.com' } }),
      (n) => ({ ip: elsewhere(n), path: `/admin/users/${users[n]}`, body: { email: 'b@example.com' } }),
    ],
    [
      'POST',
      '/forget-password',
      (n) => ({ ip: elsewhere(n), body: { email: 'a@example.com' } }),
      (n) => ({ ip: elsewhere(n), body: { email: 'b@example.com' } }),
    ],
    [
      'GET',
      '/user/change-pwd-req/{uid}',
      (n) => ({ ip: elsewhere(n), path: `/user/change-pwd-req/${uid}` }),
      (n) => ({ ip: elsewhere(n), path: `/user/change-pwd-req/${uid.replace('1', '2')}` }),
    ],
    [
      'POST',
      '/user/change-pwd-by-req',
      (n) => ({ ip: elsewhere(n), body: { req_uid: uid } }),
      (n) => ({ ip: elsewhere(n), body: { req_uid: uid.replace('1', '2') } }),
    ],
    [
      'POST',
      '/otp-verify',
      (n) => ({ ip: elsewhere(n), body: { ...code, uid, mfa_token: 'owner' } }),
      (n) => ({ ip: elsewhere(n), body: { ...code, uid, mfa_token: 'stranger' } }),
    ],
    [
      'POST',
      '/otp-resend',
      (n) => ({ ip: elsewhere(n), body: { ...code, uid, mfa_token: 'owner' } }),
      (n) => ({ ip: elsewhere(n), body: { ...code, uid, mfa_token: 'stranger' } }),
    ],
    [
      'GET',
      '/otp-qrcode/{uid}',
      () => ({ ip: home, path: `/otp-qrcode/${uid}` }),
      (n) => ({ ip: elsewhere(n), path: `/otp-qrcode/${uid}` }),
    ],
  ])('%s %s is counted by target: the third request is refused, one about another target is not', async (...row) => {
    const [method, path, same, other] = row;
    const seen: string[] = [];
    for (let n = 1; n <= 3; n++) seen.push(await statusOf(service, method, path, same(n)));
    expect(seen.slice(0, 2)).not.toContain('COMMON_429001');
    expect(seen[2]).toBe('COMMON_429001');
    expect(await statusOf(service, method, path, other(3))).not.toBe('COMMON_429001');
  });
});
