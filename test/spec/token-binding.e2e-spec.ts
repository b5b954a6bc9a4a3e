import { decodeJwt } from 'jose';
import { ServiceClients } from '../../src/introspection/service-client.repository';
import { type Answer, password, TestService } from '../support/app';
import { ProofMaker } from '../support/proof';
import { captchaToken } from '../support/settings';

const refused = { status: 401, body: { error_code: 'AUTH_401011' } };

describe('tokens that are bound to a key', () => {
  let service: TestService;
  let key: ProofMaker;

  beforeAll(async () => {
    service = await TestService.start();
    key = ProofMaker.make(service.clock);
    await service.givenUser('ann');
  });
  afterAll(() => service.stop());

  const login = (dpop?: string, name = 'ann'): Promise<Answer> =>
    service.login(name, password, {}, { headers: dpop === undefined ? {} : { dpop } });

  async function bound(by = key): Promise<{ access: string; refresh: string }> {
    const { status, body } = await login(by.proof('POST', '/login'));
    expect(status).toBe(200);
    return { access: body.data.access_token, refresh: body.data.refresh_token };
  }
  const me = (headers: Record<string, string>) => service.get('/user/me', { headers });

  it.each(['ES256', 'EdDSA'] as const)('a login with a proof by %s binds both tokens to its key', async (algorithm) => {
    const own = ProofMaker.make(service.clock, { algorithm });
    const { access, refresh } = await bound(own);
    for (const token of [access, refresh]) expect(decodeJwt(token).cnf).toEqual({ jkt: own.thumbprint });
    expect(await me(own.with(access, 'GET', '/user/me'))).toMatchObject({
      status: 200,
      body: { data: { login_name: 'ann' } },
    });
  });

  it('a login without a proof gives tokens as before', async () => {
    const { access, refresh } = await service.session('ann');
    expect([decodeJwt(access).cnf, decodeJwt(refresh).cnf]).toEqual([undefined, undefined]);
    expect((await service.get('/user/me', { bearer: access })).status).toBe(200);
  });

  it('a bound token without its key is worth nothing', async () => {
    const { access } = await bound();
    const answers = [
      await me({ authorization: `Bearer ${access}` }),
      await me({ ...key.with(access, 'GET', '/user/me'), authorization: `Bearer ${access}` }),
      await me({ authorization: `DPoP ${access}` }),
      await me(ProofMaker.make(service.clock).with(access, 'GET', '/user/me')),
    ];
    for (const answer of answers) expect(answer).toMatchObject(refused);
  });

  it('a refresh keeps the key, and needs its proof', async () => {
    const { refresh } = await bound();
    const ask = (headers: Record<string, string>) => service.post('/refresh', { refresh_token: refresh }, { headers });
    expect(await ask({})).toMatchObject(refused);
    expect(await ask(ProofMaker.make(service.clock).headers('POST', '/refresh'))).toMatchObject(refused);
    const { status, body } = await ask(key.headers('POST', '/refresh'));
    expect({ status, type: body.data.token_type }).toEqual({ status: 200, type: 'Bearer' });
    expect(decodeJwt(body.data.access_token as string).cnf).toEqual({ jkt: key.thumbprint });
  });

  it('T420 a proof works once', async () => {
    const { access } = await bound();
    const headers = key.with(access, 'GET', '/user/me');
    expect((await me(headers)).status).toBe(200);
    expect(await me(headers)).toMatchObject(refused);
    const asked = key.headers('POST', '/login');
    const body = { username: 'ann', password, captcha_token: captchaToken };
    expect((await service.post('/login', body, { headers: asked })).status).toBe(200);
    expect(await service.post('/login', body, { headers: asked })).toMatchObject(refused);
  });

  it('T428 a stolen refresh token is worth nothing without the key, in the body and in the header', async () => {
    const { refresh } = await bound();
    const thief = ProofMaker.make(service.clock);
    const asked = [
      () => service.post('/refresh', { refresh_token: refresh }),
      () => service.post('/refresh', {}, { bearer: refresh }),
      () =>
        service.post(
          '/refresh',
          {},
          { headers: { ...key.headers('POST', '/refresh'), authorization: `Bearer ${refresh}` } },
        ),
      () => service.post('/refresh', {}, { headers: { authorization: `DPoP ${refresh}` } }),
      () =>
        service.post(
          '/refresh',
          {},
          { headers: { ...thief.headers('POST', '/refresh'), authorization: `DPoP ${refresh}` } },
        ),
      () => service.post('/refresh', { refresh_token: refresh }, { headers: thief.headers('POST', '/refresh') }),
      () => service.post('/logout', {}, { bearer: refresh }),
      () => service.post('/logout', {}, { headers: thief.with(refresh, 'POST', '/logout') }),
    ];
    for (const ask of asked) expect(await ask()).toMatchObject(refused);
    expect((await service.post('/refresh', {}, { headers: key.with(refresh, 'POST', '/refresh') })).status).toBe(200);
    expect((await service.post('/logout', {}, { headers: key.with(refresh, 'POST', '/logout') })).status).toBe(200);
    const after = await service.post(
      '/refresh',
      { refresh_token: refresh },
      { headers: key.headers('POST', '/refresh') },
    );
    expect(after).toMatchObject({ status: 401, body: { error_code: 'AUTH_401006' } });
  });

  it('T429 an unbound token with the scheme DPoP is refused, and one as Bearer with a wrong proof', async () => {
    const { access, refresh } = await service.session('ann');
    expect(await me(key.with(access, 'GET', '/user/me'))).toMatchObject(refused);
    expect(await me({ authorization: `DPoP ${access}` })).toMatchObject(refused);
    expect(await me({ authorization: `Bearer ${access}`, dpop: 'x' })).toMatchObject(refused);
    expect((await me({ authorization: `Bearer ${access}`, dpop: key.proof('GET', '/user/me') })).status).toBe(200);
    const renewed = await service.post(
      '/refresh',
      { refresh_token: refresh },
      { headers: key.headers('POST', '/refresh') },
    );
    expect(decodeJwt(renewed.body.data.access_token as string).cnf).toBeUndefined();
  });

  it('T430 a wrong proof at /login spends no captcha, counts no failure and writes no log', async () => {
    const { uid } = await service.givenUser('bob');
    for (let n = 0; n < 6; n++) expect(await login('x', 'bob')).toMatchObject(refused);
    expect(await service.login('bob', 'wrong', {}, { headers: { dpop: 'x' } })).toMatchObject(refused);
    expect(await service.userRow(uid)).toMatchObject({ login_failed_count: 0 });
    expect(await service.count('login_logs', 'login_name = ?', ['bob'])).toBe(0);
    // The body is not read either: no field is named.
    expect(await service.post('/login', {}, { headers: { dpop: 'x' } })).toMatchObject(refused);
  });

  it('a new password keeps the key of the session, and binds a session that proves one', async () => {
    await service.givenUser('cyd');
    const change = (from: string, to: string, headers: Record<string, string>) =>
      service.post(
        '/user/change-password',
        { current_password: from, password: to, confirm_password: to },
        { headers },
      );
    const { access } = await service.session('cyd');
    const proof = key.proof('POST', '/user/change-password');
    const first = await change(password, 'Other-Horse-8', { authorization: `Bearer ${access}`, dpop: proof });
    const own = first.body.data.access_token as string;
    expect(decodeJwt(own).cnf).toEqual({ jkt: key.thumbprint });
    expect(await change('Other-Horse-8', 'Third-Horse-9', { authorization: `Bearer ${own}` })).toMatchObject(refused);
    const second = await change('Other-Horse-8', 'Third-Horse-9', key.with(own, 'POST', '/user/change-password'));
    expect(decodeJwt(second.body.data.access_token as string).cnf).toEqual({ jkt: key.thumbprint });
  });

  it('a confirmation keeps the key of the session', async () => {
    const { access } = await bound();
    const route = '/user/reauthenticate';
    const { body } = await service.post(route, { password }, { headers: key.with(access, 'POST', route) });
    expect(decodeJwt(body.data.refresh_token as string).cnf).toEqual({ jkt: key.thumbprint });
  });

  const introspect = (token: string, authorization: string) =>
    service.post('/introspect', new URLSearchParams({ token }).toString(), {
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
    });

  it('/introspect shows the key of both tokens', async () => {
    const { id, secret } = await service.app.get(ServiceClients).create('proofs');
    const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    for (const token of Object.values(await bound())) {
      const { body } = await introspect(token, authorization);
      expect(body).toMatchObject({ active: true, cnf: { jkt: key.thumbprint } });
    }
    const { access } = await service.session('ann');
    expect((await introspect(access, authorization)).body.cnf).toBeUndefined();
  });

  it('no log line has a proof, nor a token', async () => {
    const proof = key.proof('POST', '/login');
    await login(proof);
    await login(`${proof}x`);
    const lines = JSON.stringify(service.logLines);
    expect(lines).toContain('AUTH_401011');
    expect(lines).not.toContain(proof.slice(0, 40));
    expect(lines).not.toContain(key.thumbprint);
  });
});
