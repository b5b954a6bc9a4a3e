import { decodeJwt } from 'jose';
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
    expect({ status, type: body.data.token_type }).toEqual({ status: 200, type: 'DPoP' });
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
});
