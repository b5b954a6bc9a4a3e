import { generateKeyPairSync } from 'node:crypto';
import { TestService } from '../support/app';
import { externalSession, freshSignIn, givenBound, signsInAt, tellLogout } from '../support/external-sessions';
import { FakeClock } from '../support/fakes';
import { type Claims, type Header, HostileProvider } from '../support/hostile-provider';
import { givenIdentityProvider } from '../support/identity-providers';
import { MfaClient, mfaSettings } from '../support/mfa';

const event = 'http://schemas.openid.net/event/backchannel-logout';
const strangerKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

describe('POST /login/external/{id}/backchannel-logout', () => {
  let service: TestService;
  let provider: HostileProvider;

  beforeAll(async () => {
    service = await TestService.start({}, { clock: new FakeClock(new Date()) });
    provider = await HostileProvider.start(() => service.clock.now());
    const { clientId, clientSecret: secret, issuer } = provider;
    await givenIdentityProvider(service, { id: 'acme', issuer, clientId, secret });
    await givenBound(service, 'ann');
  });
  afterEach(() => {
    provider.lies = {};
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });

  const tell = (claims: Claims, header?: Header) =>
    tellLogout(service, { logout_token: provider.logoutToken(claims, header) });
  const lives = async ({ access, refresh }: { access: string; refresh: string }) => {
    const [me, more] = [
      await service.get('/user/me', { bearer: access }),
      await service.post('/refresh', { refresh_token: refresh }),
    ];
    expect(more.status).toBe(me.status);
    return me.status === 200;
  };
  const audited = (uid: string) =>
    service.database.rows<{ detail: string }>(
      `SELECT detail FROM audit_logs WHERE event = 'EXTERNAL_LOGOUT' AND user_id = ?`,
      [uid],
    );

  it('ends every session of the sub, with an empty answer that nobody keeps, and is audited', async () => {
    const bob = await givenBound(service, 'bob');
    const [first, second] = [await externalSession(service, 'bob', 's1'), await externalSession(service, 'bob')];
    const other = await externalSession(service, 'ann');
    const answer = await tell({ sub: bob.sub });
    expect([answer.status, answer.raw.toString(), answer.headers['cache-control']]).toEqual([200, '', 'no-store']);
    expect([await lives(first), await lives(second), await lives(other)]).toEqual([false, false, true]);
    const [row] = await audited(bob.uid);
    expect(JSON.parse(row!.detail)).toEqual({ identity_provider: 'acme', ended: 2 });
  });

  it.each([
    ['with its sub', (sub: string) => ({ sub, sid: 'here' })],
    ['alone', () => ({ sid: 'here' })],
  ])('ends the sessions of one session of the provider, told %s', async (_name, claims) => {
    const name = `cleo${_name.length}`;
    const { sub } = await givenBound(service, name);
    const here = await externalSession(service, name, 'here');
    const elsewhere = await externalSession(service, name, 'elsewhere');
    // The provider has not told to which of its sessions this one belongs.
    const unknown = await externalSession(service, name);
    expect((await tell(claims(sub))).status).toBe(200);
    expect([await lives(here), await lives(elsewhere), await lives(unknown)]).toEqual([false, true, false]);
    await service.database.affected('DELETE FROM external_sessions WHERE provider_sid_hash IS NOT NULL', []);
  });

  it('is a success for somebody who is unknown here, or who has signed out already', async () => {
    expect((await tell({ sub: 'nobody' })).status).toBe(200);
    expect((await tell({ sid: 'no-session' })).status).toBe(200);
    const { sub, uid } = await givenBound(service, 'dora');
    await externalSession(service, 'dora');
    for (const times of [1, 2]) expect([times, (await tell({ sub })).status]).toEqual([times, 200]);
    expect(await audited(uid)).toHaveLength(1);
  });

  it.each([
    ['with its sub', (sub: string, sid: string) => ({ sub, sid })],
    ['alone', (_sub: string, sid: string) => ({ sid })],
  ])(
    'a new sign-in confirms no session when its own session at the provider has ended before, told %s',
    async (_name, claims) => {
      const name = `hugo${_name.length}`;
      const { sub, uid } = await givenBound(service, name);
      const session = await externalSession(service, name, 'first');
      await signsInAt(service, uid);
      const browser = await freshSignIn(service, { uid, sub }, { code: `fresh of ${name}`, sid: `later of ${name}` });
      expect((await tell(claims(sub, `later of ${name}`))).status).toBe(200);
      const refused = await service.post(
        '/user/reauthenticate',
        { external: `fresh of ${name}` },
        { ...browser, bearer: session.access },
      );
      expect([refused.status, refused.body.error_code]).toEqual([401, 'LOGIN_401013']);
      // The session of this service still belongs to the session at the provider in which it began, so it ends with that one.
      expect((await service.get('/user/me', { bearer: session.access })).status).toBe(200);
      expect((await tell({ sub, sid: 'first' })).status).toBe(200);
      expect(await lives(session)).toBe(false);
    },
  );

  it('a sid alone ends the login that waits for the second factor of this service', async () => {
    const asking = await TestService.start(mfaSettings, { clock: service.clock, store: service.store });
    const mfa = new MfaClient(asking);
    const user = await givenBound(service, 'ines');
    await signsInAt(service, user.uid);
    const browser = await freshSignIn(service, user, { code: 'first', sid: 'of-ines', login: true });
    const { body } = await asking.post('/login/external', { code: 'first' }, browser);
    const code = await mfa.lastCode(user);
    expect((await tell({ sid: 'of-ines' })).status).toBe(200);
    const refused = await mfa.verify(user.uid, 'email', code, { mfa_token: body.data.mfa_token as string });
    await asking.stop({ keepStore: true });
    expect([refused.status, refused.body.error_code]).toEqual([401, 'MFA_401001']);
  });

  it('is used once: the same token again, or its jti in another one, is refused (T532)', async () => {
    const { sub } = await givenBound(service, 'fred');
    const logout_token = provider.logoutToken({ sub, jti: 'once' });
    expect((await tellLogout(service, { logout_token })).status).toBe(200);
    const session = await externalSession(service, 'fred');
    expect((await tellLogout(service, { logout_token })).status).toBe(400);
    expect((await tell({ sub, jti: 'once' })).status).toBe(400);
    expect(await lives(session)).toBe(true);
  });

  it('can be sent again when the first time failed: nothing is used up (T532)', async () => {
    const { sub } = await givenBound(service, 'gina');
    const session = await externalSession(service, 'gina');
    const logout_token = provider.logoutToken({ sub });
    const down = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const away = jest.spyOn(service.database, 'transaction').mockRejectedValue(down);
    const answer = await tellLogout(service, { logout_token });
    expect([answer.status, answer.body.error_code]).toEqual([503, 'COMMON_503001']);
    away.mockRestore();
    expect((await tellLogout(service, { logout_token })).status).toBe(200);
    expect(await lives(session)).toBe(false);
  });

  describe('refuses with 400, and ends nothing (T530, T531)', () => {
    let session: { access: string; refresh: string };
    beforeAll(async () => {
      session = await externalSession(service, 'ann', 's-ann');
    });

    const sub = 'sub-of-ann';
    const hour = 3600;
    const now = () => provider.seconds;
    it.each<[string, () => string]>([
      ['another key', () => provider.logoutToken({ sub }, { key: strangerKey })],
      ['an unknown key', () => provider.logoutToken({ sub }, { kid: 'other', key: strangerKey })],
      ['alg none', () => provider.logoutToken({ sub }, { alg: 'none' })],
      ['HS256 with the public key', () => hs256({ sub })],
      ['HS256 with the secret', () => provider.logoutToken({ sub }, { alg: 'HS256', key: provider.clientSecret })],
      ['another type', () => provider.logoutToken({ sub }, { typ: 'at+jwt' })],
      ['critical headers', () => provider.logoutToken({ sub }, { crit: ['b64'] })],
      ['another issuer', () => provider.logoutToken({ sub, iss: 'https://elsewhere.example.com' })],
      ['a slash behind the issuer', () => provider.logoutToken({ sub, iss: `${provider.issuer}/` })],
      ['another audience', () => provider.logoutToken({ sub, aud: 'elsewhere' })],
      ['no audience', () => provider.logoutToken({ sub, aud: undefined })],
      ['no iat', () => provider.logoutToken({ sub, iat: undefined })],
      ['an iat of tomorrow', () => provider.logoutToken({ sub, iat: now() + 24 * hour, exp: now() + 25 * hour })],
      ['an iat of yesterday', () => provider.logoutToken({ sub, iat: now() - 24 * hour, exp: now() + hour })],
      ['an iat that is a text', () => provider.logoutToken({ sub, iat: String(now()) })],
      ['no exp', () => provider.logoutToken({ sub, exp: undefined })],
      ['an exp of yesterday', () => provider.logoutToken({ sub, exp: now() - 24 * hour })],
      ['no events', () => provider.logoutToken({ sub, events: undefined })],
      ['other events', () => provider.logoutToken({ sub, events: { 'https://example.com/event': {} } })],
      ['events that are a list', () => provider.logoutToken({ sub, events: [event] })],
      ['events that are a text', () => provider.logoutToken({ sub, events: event })],
      ['a nonce: it is an ID token', () => provider.logoutToken({ sub, nonce: 'n' })],
      ['a nonce that is null', () => provider.logoutToken({ sub, nonce: null })],
      ['no jti', () => provider.logoutToken({ sub, jti: undefined })],
      ['an empty jti', () => provider.logoutToken({ sub, jti: '' })],
      ['a jti that is a number', () => provider.logoutToken({ sub, jti: 7 })],
      ['neither sub nor sid', () => provider.logoutToken({})],
      ['a sub that is a number', () => provider.logoutToken({ sub: 7 })],
      ['a sub that is a list', () => provider.logoutToken({ sub: [sub] })],
      ['a sub of 256 characters', () => provider.logoutToken({ sub: 'x'.repeat(256) })],
      ['an empty sid beside the sub', () => provider.logoutToken({ sub, sid: '' })],
      ['no token', () => 'x'],
      ['five parts', () => 'a.b.c.d.e'],
      ['a text of 9,000 characters', () => 'x'.repeat(9000)],
    ])('%s', async (_what, token) => {
      const answer = await tellLogout(service, { logout_token: token() });
      expect([answer.status, answer.body, answer.headers['cache-control']]).toEqual([
        400,
        { error: 'invalid_request' },
        'no-store',
      ]);
      expect(await lives(session)).toBe(true);
    });

    it('a token for another provider, an unknown one, or none', async () => {
      const logout_token = provider.logoutToken({ sub });
      for (const id of ['unknown', 'ACME', 'acme%20', "a'b"]) {
        expect([id, (await tellLogout(service, { logout_token }, id)).status]).toEqual([id, 400]);
      }
      expect((await tellLogout(service, {})).body).toEqual({ error: 'invalid_request' });
      expect((await tellLogout(service, { logout_token, state: 'ignored' })).status).toBe(200);
    });
  });

  it('with JSON it is 415, and a repeated token 400', async () => {
    const path = '/login/external/acme/backchannel-logout';
    expect((await service.post(path, { logout_token: 'x' })).status).toBe(415);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await service.post(path, 'logout_token=a&logout_token=b', { headers })).status).toBe(400);
  });

  it('says 503 while the keys of the provider cannot be read, and accepts the token afterwards', async () => {
    const { clientId, clientSecret: secret, issuer } = provider;
    await givenIdentityProvider(service, { id: 'fresh', issuer: `${issuer}/away`, clientId, secret });
    const answer = await tellLogout(service, { logout_token: provider.logoutToken({ sub: 'x' }) }, 'fresh');
    expect([answer.status, answer.body.error_code]).toEqual([503, 'LOGIN_503002']);
  });

  it('a flood of tokens with unknown keys asks the provider for its keys a few times (T525)', async () => {
    await tell({ sub: 'warm' });
    const before = provider.asked.length;
    for (let n = 0; n < 30; n++) await tell({ sub: 'x' }, { kid: `unknown-${n}`, key: strangerKey });
    expect(provider.asked.length - before).toBeLessThan(4);
  });

  /** The public key is no secret. A verifier that believes the header would accept it as one. */
  function hs256(claims: Claims): string {
    const key = JSON.stringify(provider.publicKey());
    return provider.logoutToken(claims, { alg: 'HS256', key });
  }
});
