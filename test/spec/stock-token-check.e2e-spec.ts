import { createPublicKey, createSecretKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import jsonwebtoken from 'jsonwebtoken';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import { testSettings } from '../support/settings';

const secret = testSettings.JWT_SECRET;
const pem = (algorithm: 'ES256' | 'RS256') =>
  (algorithm === 'ES256'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 })
  ).privateKey
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();

const settings = {
  HS256: { JWT_ALGORITHM: 'HS256' },
  ES256: { JWT_ALGORITHM: 'ES256', JWT_PRIVATE_KEY: pem('ES256') },
  RS256: { JWT_ALGORITHM: 'RS256', JWT_PRIVATE_KEY: pem('RS256') },
} as const;
type Algorithm = keyof typeof settings;

/** The libraries read the clock of this machine. */
const start = (more: Record<string, string>) => TestService.start(more, { clock: new FakeClock(new Date()) });

interface Expected {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: [Algorithm];
}

function byPassport(token: string, key: KeyObject, { issuer, audience, algorithms }: Expected): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const strategy = new Strategy(
      {
        jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
        secretOrKey: key as never,
        issuer,
        audience,
        algorithms,
      },
      (claims: unknown, done: (error: null, claims: unknown) => void) => done(null, claims),
    );
    Object.assign(strategy, { success: resolve, fail: reject, error: reject });
    strategy.authenticate({ headers: { authorization: `Bearer ${token}` } } as never);
  });
}

/** What a service does that knows RFC 7519 and nothing about the portal: key, algorithm, `iss`, `aud`, `exp`. */
async function stockChecks(service: TestService, algorithm: Algorithm, audience: string) {
  const { keys } = (await service.get('/.well-known/jwks.json')).body as { keys: object[] };
  const issuer = testSettings.SYSTEM_URL;
  const key =
    algorithm === 'HS256'
      ? createSecretKey(Buffer.from(secret))
      : createPublicKey({ key: keys[0] as JsonWebKey, format: 'jwk' });
  const expected: Expected = { issuer, audience, algorithms: [algorithm] };
  const verdict = (work: Promise<unknown>) => work.then(() => 'accepted' as const).catch(() => 'refused' as const);
  const jose = (token: string) =>
    algorithm === 'HS256'
      ? jwtVerify(token, Buffer.from(secret), expected)
      : jwtVerify(token, createLocalJWKSet({ keys }), expected);
  return async (token: string) => ({
    jose: await verdict(jose(token)),
    jsonwebtoken: await verdict(Promise.resolve().then(() => jsonwebtoken.verify(token, key, expected))),
    'passport-jwt': await verdict(byPassport(token, key, expected)),
  });
}

const accepted = { jose: 'accepted', jsonwebtoken: 'accepted', 'passport-jwt': 'accepted' };
const refused = { jose: 'refused', jsonwebtoken: 'refused', 'passport-jwt': 'refused' };

describe.each(Object.keys(settings) as Algorithm[])('a stock check of a JWT, with %s (T351)', (algorithm) => {
  it.each([
    ['with rotation', { REFRESH_TOKEN_ROTATION: 'true' }, 'portal'],
    ['without rotation', { REFRESH_TOKEN_ROTATION: 'false' }, 'portal'],
    ['where JWT_AUDIENCE is the issuer', { JWT_AUDIENCE: testSettings.SYSTEM_URL }, testSettings.SYSTEM_URL],
  ])('accepts access tokens and refuses refresh tokens, %s', async (_what, more, audience) => {
    const service = await start({ ...settings[algorithm], ...more });
    try {
      await service.givenUser('stock');
      const check = await stockChecks(service, algorithm, audience);
      const { access, refresh } = await service.session('stock');
      const again = (await service.post('/refresh', undefined, { bearer: refresh })).body.data as Record<
        string,
        string
      >;
      for (const token of [access, again.access_token!]) {
        expect(await check(token)).toEqual(accepted);
        expect([decodeProtectedHeader(token).typ, decodeJwt(token).aud]).toEqual(['JWT', audience]);
      }
      for (const token of [refresh, again.refresh_token!]) {
        expect(await check(token)).toEqual(refused);
        expect(decodeProtectedHeader(token).typ).toBe('rt+jwt');
      }
      // `/logout` takes a refresh token as well.
      expect((await service.post('/logout', {}, { bearer: again.refresh_token })).status).toBe(200);
      expect((await service.get('/user/me', { bearer: access })).body.error_code).toBe('AUTH_401004');
    } finally {
      await service.stop();
    }
  });
});

describe('the audience of refresh tokens (docs/operations/upgrade.md#refresh-tokens)', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await start({ ...settings.HS256, REFRESH_TOKEN_ROTATION: 'true' });
    await service.givenUser('ann');
  });
  afterAll(() => service.stop());

  const audienceOf = (token: string) => decodeJwt(token).aud;
  const rotate = async (replica: TestService, token: string) =>
    (await replica.post('/refresh', undefined, { bearer: token })).body.data as Record<string, string>;
  /** A replica that was started later: each process reads once what the migration has written. */
  const replica = (more: Record<string, string> = {}) =>
    TestService.start(
      { ...settings.HS256, REFRESH_TOKEN_ROTATION: 'true', ...more },
      { store: service.store, clock: service.clock },
    );
  const upgradedUntil = (until: Date | null) =>
    service.database.transaction(async (tx) => {
      await tx.affected("DELETE FROM cooldowns WHERE kind = 'tokens'");
      if (until === null) return;
      const row = ['00000000-0000-0000-0000-000000000000', 'tokens', until] as const;
      await tx.affected('INSERT INTO cooldowns (subject, kind, until) VALUES (?, ?, ?)', row);
    });

  it('is the issuer at once in a new installation', async () => {
    expect(audienceOf((await service.session('ann')).refresh)).toBe(testSettings.SYSTEM_URL);
  });

  it('is that of version 1.0.0 for seven days after an upgrade, and each token of before works afterwards', async () => {
    await upgradedUntil(service.clock.secondsFromNow(3600));
    const upgraded = await replica();
    try {
      const { refresh } = await upgraded.session('ann');
      expect([audienceOf(refresh), decodeProtectedHeader(refresh).typ]).toEqual(['portal', 'rt+jwt']);
      const next = await rotate(upgraded, refresh);
      expect(audienceOf(next.refresh_token!)).toBe('portal');
      service.clock.advanceSeconds(3600);
      const last = await rotate(upgraded, next.refresh_token!);
      expect(audienceOf(last.refresh_token!)).toBe(testSettings.SYSTEM_URL);
      expect((await rotate(upgraded, last.refresh_token!)).access_token).toEqual(expect.any(String));
    } finally {
      await upgraded.app.close();
    }
  });

  it('is that of version 1.0.0 while the migration has not run', async () => {
    await upgradedUntil(null);
    const early = await replica();
    try {
      expect(audienceOf((await early.session('ann')).refresh)).toBe('portal');
      await upgradedUntil(new Date(0));
      expect(audienceOf((await early.session('ann')).refresh)).toBe(testSettings.SYSTEM_URL);
    } finally {
      await early.app.close();
    }
  });

  it.each([
    ['issuer', testSettings.SYSTEM_URL],
    ['former', 'portal'],
  ])('is what REFRESH_TOKEN_AUDIENCE=%s says, whatever the migration has found', async (value, audience) => {
    await upgradedUntil(value === 'issuer' ? service.clock.secondsFromNow(3600) : new Date(0));
    const set = await replica({ REFRESH_TOKEN_AUDIENCE: value });
    try {
      expect(audienceOf((await set.session('ann')).refresh)).toBe(audience);
    } finally {
      await set.app.close();
    }
  });
});
