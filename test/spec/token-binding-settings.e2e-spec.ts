import { decodeJwt } from 'jose';
import { ServiceClients } from '../../src/introspection/service-client.repository';
import { password, TestService } from '../support/app';
import { MfaClient, pairOf } from '../support/mfa';
import { ProofMaker } from '../support/proof';
import { captchaToken } from '../support/settings';

const refused = { status: 401, body: { error_code: 'AUTH_401011' } };

/** What `/introspect` says about these tokens. */
async function introspected(service: TestService, ...tokens: readonly string[]): Promise<unknown[]> {
  const { id, secret } = await service.app.get(ServiceClients).create('invoices');
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
  const answers = tokens.map((token) =>
    service.post('/introspect', new URLSearchParams({ token }).toString(), { headers }),
  );
  return (await Promise.all(answers)).map(({ body }) => body as unknown);
}

describe('a bound login with a second factor', () => {
  let mfa: MfaClient;
  let key: ProofMaker;
  beforeAll(async () => {
    mfa = await MfaClient.start();
    key = ProofMaker.make(mfa.service.clock);
  });
  afterAll(() => mfa.stop());

  const prove = (path: string, by = key) => ({ headers: by.headers('POST', path) });

  it('T431 /otp-verify needs the key of /login: without it no attempt is counted, and the code stays good', async () => {
    const user = await mfa.givenUser('ann');
    const { uid } = await mfa.logIn('ann', prove('/login'));
    const code = await mfa.lastCode(user);
    const thief = ProofMaker.make(mfa.service.clock);
    for (let n = 0; n < 6; n++) {
      expect(await mfa.verify(uid, 'email', code)).toMatchObject(refused);
      expect(await mfa.verify(uid, 'email', code, {}, prove('/otp-verify', thief))).toMatchObject(refused);
      expect(await mfa.verify(uid, 'email', code, {}, { headers: { dpop: 'x' } })).toMatchObject(refused);
    }
    expect(await mfa.row('pending_logins', user)).toMatchObject({ attempts: 0 });
    const { access, refresh } = pairOf(await mfa.verify(uid, 'email', code, {}, prove('/otp-verify')));
    for (const token of [access, refresh]) expect(decodeJwt(token).cnf).toEqual({ jkt: key.thumbprint });
  });

  it('nobody but the owner of the login learns that it has a key', async () => {
    const user = await mfa.givenUser('bob');
    const { uid } = await mfa.logIn('bob', prove('/login'));
    const stranger = await mfa.verify(uid, 'email', '000000', {}, { ip: '192.0.2.9' });
    expect(stranger).toMatchObject({ status: 401, body: { error_code: 'MFA_401001' } });
    expect(await mfa.row('pending_logins', user)).toMatchObject({ attempts: 0 });
  });

  it('a code can be sent again without the key, and a login without a proof is bound by that of its code', async () => {
    const user = await mfa.givenUser('cyd');
    const { uid } = await mfa.logIn('cyd');
    mfa.service.clock.advanceSeconds(61);
    expect((await mfa.resend(uid)).status).toBe(200);
    const { access } = pairOf(await mfa.verify(uid, 'email', await mfa.lastCode(user), {}, prove('/otp-verify')));
    expect(decodeJwt(access).cnf).toEqual({ jkt: key.thumbprint });
  });

  it('a login of version 1.0.0 that replaces the row under another id is not tied to the former key', async () => {
    const user = await mfa.givenUser('dan');
    const { uid } = await mfa.logIn('dan', prove('/login'));
    await mfa.service.database.affected('UPDATE pending_logins SET id = ? WHERE user_id = ?', ['another', uid]);
    mfa.service.clock.advanceSeconds(61);
    expect((await mfa.resend(uid)).status).toBe(200);
    expect((await mfa.verify(uid, 'email', await mfa.lastCode(user))).status).toBe(200);
  });
});

describe('TOKEN_BINDING=required', () => {
  let service: TestService;
  let key: ProofMaker;
  beforeAll(async () => {
    service = await TestService.start({ TOKEN_BINDING: 'required' });
    key = ProofMaker.make(service.clock);
    await service.givenUser('ann');
  });
  afterAll(() => service.stop());

  it('a login without a proof is refused before anything is judged, and /capabilities says so', async () => {
    for (const [path, body] of [
      ['/login', { username: 'ann', password, captcha_token: captchaToken }],
      ['/login', {}],
      ['/login/passkey', {}],
      ['/otp-verify', {}],
    ] as const) {
      const answer = await service.post(path, body);
      expect(answer).toMatchObject(refused);
      expect(answer.headers['www-authenticate']).toContain('DPoP error="invalid_dpop_proof"');
    }
    expect((await service.get('/capabilities')).body.data.token_binding).toBe('required');
    expect((await service.login('ann', password, {}, { headers: key.headers('POST', '/login') })).status).toBe(200);
  });

  it('an unbound session of before has to sign in again', async () => {
    const before = await TestService.start({}, { store: service.store, clock: service.clock });
    const { access, refresh } = await before.session('ann');
    await before.stop({ keepStore: true });
    expect(await service.get('/user/me', { bearer: access })).toMatchObject(refused);
    const headers = key.headers('POST', '/refresh');
    expect(await service.post('/refresh', { refresh_token: refresh }, { headers })).toMatchObject(refused);
    expect(await service.get('/verify', { bearer: access })).toMatchObject(refused);
    const challenge = (await service.get('/verify')).headers['www-authenticate'];
    expect(challenge).toBe('DPoP algs="ES256 EdDSA"');
  });

  it('/introspect calls no token active that the service itself refuses: an unbound one', async () => {
    const before = await TestService.start({}, { store: service.store, clock: service.clock });
    const unbound = await before.session('ann');
    await before.stop({ keepStore: true });
    const { body } = await service.login('ann', password, {}, { headers: key.headers('POST', '/login') });
    const tokens = [unbound.access, unbound.refresh, body.data.access_token, body.data.refresh_token];
    expect(await introspected(service, ...tokens)).toEqual([
      { active: false },
      { active: false },
      expect.objectContaining({ active: true, cnf: { jkt: key.thumbprint } }),
      expect.objectContaining({ active: true, cnf: { jkt: key.thumbprint } }),
    ]);
  });
});

describe('TOKEN_BINDING=off', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ TOKEN_BINDING: 'off' });
    await service.givenUser('ann');
  });
  afterAll(() => service.stop());

  it('the header is ignored, also a wrong one, and the tokens are not bound', async () => {
    const { status, body } = await service.login('ann', password, {}, { headers: { dpop: 'x' } });
    expect({ status, cnf: decodeJwt(body.data.access_token as string).cnf }).toEqual({ status: 200, cnf: undefined });
    const headers = { authorization: `Bearer ${body.data.access_token}`, dpop: 'x' };
    expect((await service.get('/user/me', { headers })).status).toBe(200);
    expect((await service.get('/capabilities')).body.data.token_binding).toBe('off');
  });

  it('T432 a bound token of before is refused: turning the setting off makes no copied token usable', async () => {
    const before = await TestService.start({}, { store: service.store, clock: service.clock });
    const key = ProofMaker.make(service.clock);
    const { body } = await before.login('ann', password, {}, { headers: key.headers('POST', '/login') });
    const { access_token: access, refresh_token: refresh } = body.data;
    await before.stop({ keepStore: true });
    expect(await service.get('/user/me', { bearer: access })).toMatchObject(refused);
    expect(await service.get('/user/me', { headers: key.with(access, 'GET', '/user/me') })).toMatchObject(refused);
    expect(await service.post('/refresh', { refresh_token: refresh })).toMatchObject(refused);
    expect(await introspected(service, access, refresh)).toEqual([{ active: false }, { active: false }]);
    const unbound = await service.session('ann');
    const both = [expect.objectContaining({ active: true }), expect.objectContaining({ active: true })];
    expect(await introspected(service, unbound.access, unbound.refresh)).toEqual(both);
  });
});
