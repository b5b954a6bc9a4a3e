import { TestService } from '../support/app';
import { ProofMaker } from '../support/proof';

const refused = { status: 401, body: { error_code: 'AUTH_401011' } };

/** A proxy passes on the token and the proof of its client, and says which request they came with. */
describe('GET /verify with a bound token', () => {
  let service: TestService;
  let portal: ProofMaker;
  let app: ProofMaker;
  let access: string;
  const proxy = '10.0.0.7';

  beforeAll(async () => {
    service = await TestService.start({ TRUSTED_PROXIES: proxy });
    portal = ProofMaker.make(service.clock);
    app = portal.at('https://wiki.test');
    await service.givenUser('ann');
    const { body } = await service.login('ann', undefined, {}, { headers: portal.headers('POST', '/login') });
    access = body.data.access_token;
  });
  afterAll(() => service.stop());

  const asked = {
    'x-forwarded-method': 'POST',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'wiki.test',
    'x-forwarded-uri': '/pages/1?draft=true',
  };
  const verify = (dpop: string, headers: Record<string, string> = {}, ip = proxy) =>
    service.get('/verify', { ip, headers: { authorization: `DPoP ${access}`, dpop, ...headers } });
  const forPage = (method = 'POST') => app.proof(method, '/pages/1', access);

  it('the proof is that of the original request, and is used once', async () => {
    const proof = forPage();
    const answer = await verify(proof, asked);
    expect({ status: answer.status, name: answer.headers['x-auth-name'] }).toEqual({ status: 200, name: 'ann' });
    const again = await verify(proof, asked);
    expect(again).toMatchObject(refused);
    expect(again.headers['www-authenticate']).toContain('DPoP error="invalid_dpop_proof"');
  });

  it('nginx names the request by X-Original-Method and X-Original-URI, with the origin of the other two headers', async () => {
    const { 'x-forwarded-proto': proto, 'x-forwarded-host': host } = asked;
    const original = { 'x-original-method': 'POST', 'x-original-uri': '/pages/1?draft=true' };
    const origin = { 'x-forwarded-proto': proto, 'x-forwarded-host': host };
    expect((await verify(forPage(), { ...original, ...origin })).status).toBe(200);
    // Without them the origin is one of this service.
    expect(await verify(forPage(), original)).toMatchObject(refused);
    expect((await verify(portal.proof('POST', '/pages/1', access), original)).status).toBe(200);
  });

  it('without these headers the proof is for /verify itself', async () => {
    expect((await verify(portal.proof('GET', '/verify', access))).status).toBe(200);
    expect(await verify(forPage())).toMatchObject(refused);
  });

  it('T433 only a trusted proxy names another request', async () => {
    expect(await verify(forPage(), asked, '192.0.2.9')).toMatchObject(refused);
    expect((await verify(portal.proof('GET', '/verify', access), asked, '192.0.2.9')).status).toBe(200);
  });

  it('T434 a proof for another request of the application is refused', async () => {
    expect(await verify(forPage('GET'), asked)).toMatchObject(refused);
    expect(await verify(app.proof('POST', '/pages/2', access), asked)).toMatchObject(refused);
    expect(await verify(portal.proof('POST', '/pages/1', access), asked)).toMatchObject(refused);
    expect(await verify(app.proof('POST', '/pages/1'), asked)).toMatchObject(refused);
  });

  it('T435 a header that the client adds beside those of the proxy does not choose the request', async () => {
    const added = { 'x-original-uri': '/pages/2', 'x-original-method': 'POST' };
    expect(await verify(app.proof('POST', '/pages/2', access), { ...asked, ...added })).toMatchObject(refused);
    expect(await verify(forPage(), { ...asked, ...added })).toMatchObject(refused);
    for (const wrong of [
      { 'x-forwarded-host': 'wiki.test, evil.test' },
      { 'x-forwarded-host': 'evil.test/x?' },
      { 'x-forwarded-host': 'ann@wiki.test' },
      { 'x-forwarded-proto': 'https, http' },
      { 'x-forwarded-proto': 'file' },
      { 'x-forwarded-uri': 'https://wiki.test/pages/1' },
    ]) {
      expect(await verify(forPage(), { ...asked, ...wrong })).toMatchObject(refused);
    }
    const noMethod = Object.entries(asked).filter(([name]) => name !== 'x-forwarded-method');
    expect(await verify(forPage(), Object.fromEntries(noMethod))).toMatchObject(refused);
  });

  it('a bound token as Bearer, or without a proof, is 401 with WWW-Authenticate: DPoP', async () => {
    for (const headers of [{ authorization: `Bearer ${access}` }, { authorization: `DPoP ${access}` }]) {
      const answer = await service.get('/verify', { ip: proxy, headers });
      expect(answer).toMatchObject(refused);
      expect(answer.headers['www-authenticate']).toMatch(/^DPoP error="invalid_(token|dpop_proof)"/);
    }
    const revoked = await service.get('/verify', { headers: { authorization: 'DPoP nonsense' } });
    expect(revoked).toMatchObject({ status: 401, body: { error_code: 'AUTH_401001' } });
    expect(revoked.headers['www-authenticate']).toBe('DPoP error="invalid_token", algs="ES256 EdDSA"');
  });
});
