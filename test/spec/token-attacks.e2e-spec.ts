import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import { decodeJwt } from 'jose';
import { TestService } from '../support/app';
import { testSettings } from '../support/settings';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A compact JWS with any header and any signature. */
function forge(header: object, payload: unknown, signature: (input: string) => string): string {
  const input = `${encode(header)}.${encode(payload)}`;
  return `${input}.${signature(input)}`;
}

const hs256 = (secret: string | Buffer) => (input: string) =>
  createHmac('sha256', secret).update(input).digest('base64url');

describe('forged and malformed tokens (RFC 8725) are answered 401, never 500', () => {
  let service: TestService;
  let access: string;
  let claims: Record<string, unknown>;
  let kid: string;
  beforeAll(async () => {
    service = await TestService.start({ JWT_ALGORITHM: 'HS256' });
    await service.givenUser('victim');
    ({ access } = await service.session('victim'));
    claims = decodeJwt(access);
    kid = (JSON.parse(Buffer.from(access.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid;
  });
  afterAll(() => service.stop());

  const secret = testSettings.JWT_SECRET;
  const signed = (payload: unknown, header: object = {}) =>
    forge({ alg: 'HS256', typ: 'JWT', kid, ...header }, payload, hs256(secret));
  const use = (token: string) => service.get('/user/me', { headers: { authorization: `Bearer ${token}` } });

  async function refused(token: string): Promise<void> {
    const answers = [await use(token), await service.post('/logout', undefined, { bearer: token })];
    for (const { status, body } of answers) {
      expect([status, body.error_code]).toEqual([401, expect.stringMatching(/^AUTH_40100[12]$/)]);
    }
    const { status, body } = await service.post('/refresh', { refresh_token: token });
    expect([status, body.error_code]).toEqual([401, 'AUTH_401006']);
  }

  it('control: the tests can sign tokens that are accepted, so a refusal below has its stated cause', async () => {
    expect((await use(signed(claims))).status).toBe(200);
    expect((await use(forge({ alg: 'HS256' }, claims, hs256(secret)))).status).toBe(200);
  });

  it.each(['none', 'None', 'nOnE', 'NONE', ''])('T151 a token with alg %p', async (alg) => {
    await refused(forge({ alg, typ: 'JWT', kid }, claims, () => ''));
    await refused(forge({ alg, typ: 'JWT', kid }, claims, hs256(secret)));
  });

  it('T152 a token that another algorithm than the configured one signed, with the secret of the service', async () => {
    for (const [alg, hash] of [
      ['HS384', 'sha384'],
      ['HS512', 'sha512'],
    ] as const) {
      await refused(forge({ alg, kid }, claims, (input) => createHmac(hash, secret).update(input).digest('base64url')));
    }
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await refused(
      forge({ alg: 'RS256', kid }, claims, (input) =>
        sign('sha256', Buffer.from(input), privateKey).toString('base64url'),
      ),
    );
  });

  it.each([
    [{ kid: '../../dev/null' }],
    [{ kid: "' OR 1=1--" }],
    [{ kid: 'k\u0000' }],
    [{ kid: 'x'.repeat(10_000) }],
    [{ kid: ['a', 'b'] }],
    [{ kid: { $ne: null } }],
    [{ jku: 'http://127.0.0.1:9/keys' }],
    [{ x5u: 'http://127.0.0.1:9/cert' }],
    [{ jwk: { kty: 'oct', k: 'AAAA' } }],
    [{ x5c: ['AAAA'] }],
    [{ crit: ['exp'] }],
  ])('T153 a token with the header %j', async (header) => {
    await refused(signed(claims, header));
  });

  it('T154 a token whose signature is missing, changed, padded or encoded differently', async () => {
    const [header = '', payload = '', signature = ''] = access.split('.');
    const last = signature.slice(-1);
    const neighbours = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].filter(
      (c) => c !== last,
    );
    await refused(`${header}.${payload}.`);
    await refused(`${header}.${payload}`);
    await refused(`${header}.${payload}.${signature}=`);
    await refused(`${header}.${payload}.${signature.slice(0, -1)}`);
    for (const other of neighbours) await refused(`${header}.${payload}.${signature.slice(0, -1)}${other}`);
    await refused(`${header}.${payload}.${Buffer.from(signature, 'base64url').toString('base64')}`);
  });

  it('T155 a token whose payload was changed under the old signature', async () => {
    const [header = '', , signature = ''] = access.split('.');
    for (const edit of [{ sub: randomUUID() }, { exp: 4_000_000_000 }, { token_use: 'refresh' }]) {
      await refused(`${header}.${encode({ ...claims, ...edit })}.${signature}`);
    }
  });

  it.each(['exp', 'iat', 'jti', 'sub', 'sid', 'iss', 'aud', 'token_use', 'tenant_id', 'amr'])(
    'T156 a well-signed token without the claim %s',
    async (missing) => {
      await refused(signed({ ...claims, [missing]: undefined }));
    },
  );

  it.each([
    ['an exp that is a string', { exp: '4000000000' }],
    ['an exp in the past', { exp: 1 }],
    ['an iat in the future', { iat: 4_000_000_000, exp: 4_000_000_900 }],
    ['another issuer', { iss: 'http://evil.test' }],
    ['another audience', { aud: 'elsewhere' }],
    ['a list of other audiences', { aud: ['elsewhere', 'evil'] }],
    ['an object for a jti', { jti: { $ne: null } }],
    ['a list for a sub', { sub: ['a', 'b'] }],
    ['a number for a sid', { sid: 0 }],
    ['an unknown use', { token_use: 'admin' }],
    ['T160 a jti without a row', { jti: randomUUID() }],
    ['T160 a sid of another session', { sid: randomUUID() }],
    ['T160 another subject', { sub: randomUUID() }],
  ])('T156 T158 T159 T160 a well-signed token with %s', async (_what, edit) => {
    await refused(signed({ ...claims, ...edit }));
  });

  it('T160 a well-signed token with the jti or the sub of another user', async () => {
    await service.givenUser('other');
    const other = decodeJwt((await service.session('other')).access);
    await refused(signed({ ...claims, sub: other.sub }));
    await refused(signed({ ...claims, jti: other.jti, sid: other.sid }));
  });

  it.each([
    ['an empty string', ''],
    ['four dots', '....'],
    ['two parts', 'a.b'],
    ['a JWE', 'a.b.c.d.e'],
    ['text that is not base64url', '!!.??.%%'],
    ['text that is not ASCII', 'é.é.é'],
    ['12 kB of text', 'a'.repeat(12_000)],
    ['a payload that is a string', forge({ alg: 'HS256' }, 'text', hs256(secret))],
    ['a payload that is a list', forge({ alg: 'HS256' }, [1], hs256(secret))],
    ['a payload that is null', forge({ alg: 'HS256' }, null, hs256(secret))],
  ])('T162 instead of a token: %s', async (_what, token) => {
    const { status, body } = await service.post('/refresh', { refresh_token: token });
    expect([status, body.error_code]).toEqual([401, 'AUTH_401006']);
    if (/^[\x20-\x7e]*$/.test(token)) {
      const answer = await use(token);
      expect([answer.status, answer.body.error_code]).toEqual([401, 'AUTH_401001']);
    }
  });

  it('T163 only the Authorization header carries an access token', async () => {
    const nothingElse = [`Bearer ${access} x`, `x Bearer ${access}`, `Bearer ${access}, Basic YTpi`];
    for (const authorization of ['Bearer', 'Bearer ', `Basic ${access}`, access, `Token ${access}`, ...nothingElse]) {
      expect((await service.get('/user/me', { headers: { authorization } })).status).toBe(401);
    }
    expect((await service.get('/user/me', { headers: { authorization: `bearer  ${access}` } })).status).toBe(200);
    expect((await service.get(`/user/me?access_token=${access}&token=${access}`)).status).toBe(401);
    expect((await service.get('/user/me', { headers: { cookie: `access_token=${access}` } })).status).toBe(401);
  });
});

describe('well-signed tokens of one use with the form of the other (T352)', () => {
  let service: TestService;
  let access: Record<string, unknown>;
  let refresh: Record<string, unknown>;
  beforeAll(async () => {
    service = await TestService.start({ JWT_ALGORITHM: 'HS256' });
    await service.givenUser('victim');
    const session = await service.session('victim');
    [access, refresh] = [decodeJwt(session.access), decodeJwt(session.refresh)];
  });
  afterAll(() => service.stop());

  const issuer = testSettings.SYSTEM_URL;
  const signed = (typ: string | undefined, payload: object) =>
    forge({ alg: 'HS256', typ }, payload, hs256(testSettings.JWT_SECRET));
  const answers = async (token: string) => {
    const given = [
      await service.get('/user/me', { bearer: token }),
      await service.post('/refresh', { refresh_token: token }),
    ];
    return given.map(({ status, body }) => (status === 200 ? 'open' : String(body.error_code)));
  };

  it('control: each token passes at its own route, and at no other one', async () => {
    expect(await answers(signed('JWT', access))).toEqual(['open', 'AUTH_401006']);
    expect(await answers(signed('rt+jwt', refresh))).toEqual(['AUTH_401001', 'open']);
  });

  it.each<[string, string | undefined, () => object]>([
    ['an access token of the type rt+jwt', 'rt+jwt', () => access],
    ['an access token for the issuer', 'JWT', () => ({ ...access, aud: issuer })],
    ['an access token for the issuer, of the type rt+jwt', 'rt+jwt', () => ({ ...access, aud: issuer })],
    ['an access token of an unknown type', 'at+jwt', () => access],
    ['a refresh token of the type JWT', 'JWT', () => refresh],
    ['a refresh token without a type', undefined, () => refresh],
    ['a refresh token of another spelling of the type', 'RT+JWT', () => refresh],
    ['a refresh token that calls itself an access token', 'rt+jwt', () => ({ ...refresh, token_use: 'access' })],
    ['the same for the audience of access tokens', 'JWT', () => ({ ...refresh, token_use: 'access', aud: 'portal' })],
    ['an access token that calls itself a refresh token', 'rt+jwt', () => ({ ...access, token_use: 'refresh' })],
    ['the same for the issuer', 'rt+jwt', () => ({ ...access, token_use: 'refresh', aud: issuer })],
    ['a refresh token for neither audience', 'rt+jwt', () => ({ ...refresh, aud: 'elsewhere' })],
  ])('%s passes nowhere', async (_what, typ, payload) => {
    const token = signed(typ, payload());
    expect(await answers(token)).toEqual(['AUTH_401001', 'AUTH_401006']);
    expect((await service.post('/logout', undefined, { bearer: token })).status).toBe(401);
  });

  it('a refresh token of version 1.0.0 still refreshes and logs out, and opens no other route', async () => {
    const { refresh: token } = await service.session('victim');
    const former = signed('JWT', { ...decodeJwt(token), aud: 'portal' });
    expect(await answers(former)).toEqual(['AUTH_401001', 'open']);
    expect((await service.post('/logout', undefined, { bearer: former })).status).toBe(200);
    expect(await answers(token)).toEqual(['AUTH_401004', 'AUTH_401006']);
  });

  it('an access token of version 1.0.0, which has no auth_time and no acr, is accepted', async () => {
    const former = { ...access, auth_time: undefined, acr: undefined };
    expect(await answers(signed('JWT', former))).toEqual(['open', 'AUTH_401006']);
  });
});

describe.each(['ES256', 'RS256'] as const)('JWT_ALGORITHM=%s (RFC 7518)', (algorithm) => {
  const pair = () =>
    (algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
    ).privateKey
      .export({ type: 'pkcs8', format: 'pem' })
      .toString();
  const signature = (key: KeyObject) => (input: string) =>
    sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');

  it('publishes its keys, accepts tokens of former keys, and refuses an HMAC with the public key (T152)', async () => {
    const [former, current] = [pair(), pair()];
    const before = await TestService.start({ JWT_ALGORITHM: algorithm, JWT_PRIVATE_KEY: former });
    await before.givenUser('rotating');
    const old = await before.session('rotating');
    await before.app.close();
    const after = await TestService.start(
      { JWT_ALGORITHM: algorithm, JWT_PRIVATE_KEY: current.replaceAll('\n', '\\n'), JWT_PREVIOUS_KEYS: former },
      { store: before.store, clock: before.clock },
    );
    try {
      expect((await after.get('/user/me', { bearer: old.access })).status).toBe(200);
      const fresh = (await after.post('/refresh', undefined, { bearer: old.refresh })).body.data.access_token as string;
      const { keys } = (await after.get('/.well-known/jwks.json')).body;
      expect(keys).toHaveLength(2);
      expect(JSON.stringify(keys)).not.toContain('"d"');
      const kids = keys.map((key: { kid: string }) => key.kid);
      const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
      expect(kids).toEqual([kidOf(fresh), kidOf(old.access)]);

      const publicPem = createPublicKey(createPrivateKey(current)).export({ type: 'spki', format: 'pem' });
      const claims = decodeJwt(fresh);
      const confused = forge({ alg: 'HS256', kid: kids[0] }, claims, hs256(publicPem));
      expect((await after.get('/user/me', { bearer: confused })).body.error_code).toBe('AUTH_401001');
      const foreign = forge({ alg: algorithm, kid: kids[0] }, claims, signature(createPrivateKey(pair())));
      expect((await after.get('/user/me', { bearer: foreign })).body.error_code).toBe('AUTH_401001');
      const genuine = forge({ alg: algorithm, kid: kids[0] }, claims, signature(createPrivateKey(current)));
      expect((await after.get('/user/me', { bearer: genuine })).status).toBe(200);

      const [header, payload, good = ''] = genuine.split('.');
      const spelt = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
        .map((c) => good.slice(0, -1) + c)
        .filter((one) => one !== good && Buffer.from(one, 'base64url').equals(Buffer.from(good, 'base64url')));
      expect(spelt.length).toBeGreaterThan(0);
      for (const one of spelt) {
        expect((await after.get('/user/me', { bearer: `${header}.${payload}.${one}` })).status).toBe(401);
      }
    } finally {
      await after.stop();
    }
  });
});

describe('HS256 key rotation', () => {
  it('accepts tokens of the former secret while it is in JWT_PREVIOUS_KEYS, and refuses them afterwards', async () => {
    const before = await TestService.start({ JWT_ALGORITHM: 'HS256' });
    await before.givenUser('rotating');
    const { access } = await before.session('rotating');
    await before.app.close();
    const fresh = 'another-secret-of-the-tests-long-enough-too';
    const shared = { store: before.store, clock: before.clock };
    const settings = { JWT_ALGORITHM: 'HS256', JWT_SECRET: fresh };
    const overlap = await TestService.start({ ...settings, JWT_PREVIOUS_KEYS: testSettings.JWT_SECRET }, shared);
    expect((await overlap.get('/user/me', { bearer: access })).status).toBe(200);
    expect((await overlap.get('/.well-known/jwks.json')).body).toEqual({ keys: [] });
    await overlap.app.close();
    const after = await TestService.start(settings, shared);
    expect((await after.get('/user/me', { bearer: access })).body.error_code).toBe('AUTH_401001');
    await after.stop();
  });
});
