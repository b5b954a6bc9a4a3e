import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT, exportJWK } from 'jose';
import { type Answer, TestService } from '../support/app';
import { type ProofChanges, ProofMaker, sha256 } from '../support/proof';

const refused = { status: 401, body: { error_code: 'AUTH_401011' } };
const path = '/user/me';

/** Each attack is refused, and the same request with a good proof passes: `good` ends every test of this file. */
describe('attacks on proofs of possession', () => {
  let service: TestService;
  let key: ProofMaker;
  let access: string;

  beforeAll(async () => {
    service = await TestService.start({
      SYSTEM_URL: 'https://portal.test/auth',
      TOKEN_BINDING_ORIGINS: 'https://api.test:8443,https://other.test',
    });
    key = ProofMaker.make(service.clock, { origin: 'https://portal.test' });
    await service.givenUser('ann');
    const { body } = await service.login('ann', undefined, {}, { headers: key.headers('POST', '/login') });
    access = body.data.access_token;
  });
  afterAll(() => service.stop());

  const me = (dpop: string, url = path): Promise<Answer> =>
    service.get(url, { headers: { authorization: `DPoP ${access}`, dpop } });
  const changed = (changes: ProofChanges) => me(key.proof('GET', path, access, changes));
  const claims = (members: Record<string, unknown>) => changed({ claims: members });
  const reason = (answer: Answer) => /error_description="(.*?)"/.exec(String(answer.headers['www-authenticate']))?.[1];

  afterEach(async () => expect((await me(key.proof('GET', path, access))).status).toBe(200));

  it('T421 a proof for another method or URL is refused', async () => {
    expect(await claims({ htm: 'POST' })).toMatchObject(refused);
    expect(await claims({ htm: 'get' })).toMatchObject(refused);
    for (const htu of [
      'https://evil.test/user/me',
      'http://portal.test/user/me',
      'https://portal.test:444/user/me',
      'https://portal.test.evil.test/user/me',
      'https://portal.test@evil.test/user/me',
      'https://ann:x@portal.test/user/me',
      'https://portal.test/user/ME',
      'https://portal.test/user/me/',
      'https://portal.test/user//me',
      'https://portal.test/user%2Fme',
      'https://portal.test/other/user/me',
      'https://portal.test/user/me?admin=true',
      'https://portal.test/user/me#x',
      'https://portal.test/user/sessions',
      'https://portal.test',
      '/user/me',
      'portal.test/user/me',
      'javascript:alert(1)',
      ' https://portal.test/user/me',
      '',
    ]) {
      expect({ htu, ...(await claims({ htu })) }).toMatchObject({ htu, ...refused });
    }
  });

  it('T422 one URL in its several spellings is accepted, and the query of the request does not count', async () => {
    for (const htu of [
      'https://portal.test/user/me',
      'https://portal.test:443/user/me',
      'HTTPS://Portal.Test/user/me',
      'https://portal.test/user/%6de',
      'https://portal.test/./user/x/../me',
      'https://portal.test/auth/user/me',
      'https://api.test:8443/user/me',
      'https://other.test/user/me',
    ]) {
      expect({ htu, ...(await claims({ htu })) }).toMatchObject({ htu, status: 200 });
    }
    expect((await me(key.proof('GET', path, access), '/user/me?x=1')).status).toBe(200);
  });

  it('T423 a proof for another token, or for none, is refused', async () => {
    for (const ath of [undefined, '', sha256('another'), sha256(access).toUpperCase(), 5]) {
      expect(await claims({ ath })).toMatchObject(refused);
    }
  });

  it('T424 a proof is valid for 60 seconds on either side, by the clock of the service', async () => {
    const now = service.clock.epochSeconds();
    for (const iat of [now - 60, now + 60]) expect((await claims({ iat })).status).toBe(200);
    for (const iat of [now - 61, now + 61, `${now}`, null, undefined, 1e400, -1]) {
      expect(await claims({ iat })).toMatchObject(refused);
    }
    const made = key.proof('GET', path, access);
    service.clock.advanceSeconds(61);
    const late = await me(made);
    expect(late).toMatchObject(refused);
    expect(reason(late)).toContain('60 seconds');
  });

  it('T425 a signature by another key, none, HS256, RS256 and another type are refused', async () => {
    const other = ProofMaker.make(service.clock);
    expect(await changed({ signedBy: other.privateKey })).toMatchObject(refused);
    expect(await me(other.proof('GET', path, access, { claims: { htu: `https://portal.test${path}` } }))).toMatchObject(
      refused,
    );
    const good = key.proof('GET', path, access).split('.');
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const header = { typ: 'dpop+jwt', jwk: key.jwk };
    for (const signature of ['', good[2]!]) {
      expect(await me(`${encoded({ ...header, alg: 'none' })}.${good[1]}.${signature}`)).toMatchObject(refused);
    }
    // The public key as the secret of an HMAC.
    const text = `${encoded({ ...header, alg: 'HS256' })}.${good[1]}`;
    const mac = createHmac('sha256', JSON.stringify(key.jwk)).update(text).digest('base64url');
    expect(await me(`${text}.${mac}`)).toMatchObject(refused);
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    expect(await me(await signedBy(rsa.privateKey, rsa.publicKey, 'RS256'))).toMatchObject(refused);
    const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    expect(await me(await signedBy(p384.privateKey, p384.publicKey, 'ES384'))).toMatchObject(refused);
    for (const typ of [undefined, 'JWT', 'dpop', 'DPOP+JWT', 'application/dpop+jwt']) {
      expect(await changed({ header: { typ } })).toMatchObject(refused);
    }
    for (const alg of ['EdDSA', 'ES384', 'es256', '', null])
      expect(await changed({ header: { alg } })).toMatchObject(refused);
  });

  async function signedBy(privateKey: KeyObject, publicKey: KeyObject, alg: string): Promise<string> {
    const payload = JSON.parse(
      Buffer.from(key.proof('GET', path, access).split('.')[1]!, 'base64url').toString(),
    ) as object;
    const jwk = await exportJWK(publicKey);
    return new SignJWT({ ...payload }).setProtectedHeader({ typ: 'dpop+jwt', alg, jwk }).sign(privateKey);
  }

  it('T426 a jwk with a private or symmetric member, an invalid point, or `crit` is refused', async () => {
    const { d } = key.privateKey.export({ format: 'jwk' });
    const { jwk } = key;
    for (const wrong of [
      { ...jwk, d },
      { ...jwk, k: 'AAAA' },
      { ...jwk, dp: '' },
      { kty: 'oct', k: 'AAAA' },
      { ...jwk, x: `${String(jwk.x).slice(0, -1)}=` },
      { ...jwk, x: String(jwk.y) },
      { ...jwk, y: undefined },
      { ...jwk, crv: 'P-384' },
      { ...jwk, kty: 'OKP' },
      [jwk],
      'x',
      null,
      undefined,
    ]) {
      expect(await changed({ header: { jwk: wrong } })).toMatchObject(refused);
    }
    expect(await changed({ header: { crit: ['b64'], b64: false } })).toMatchObject(refused);
  });

  it('T427 a header that is no single proof is refused: two headers, a list, a huge one, a huge `jti`', async () => {
    const proof = () => key.proof('GET', path, access);
    for (const text of [
      '',
      'x',
      '..',
      `${proof()}, ${proof()}`,
      `${proof()},`,
      `${proof()}.x`,
      ` ${proof()}`.trimEnd().replace('.', ' .'),
      `DPoP ${proof()}`,
      'a'.repeat(9000),
    ]) {
      expect(await me(text)).toMatchObject(refused);
    }
    for (const jti of ['', 'x'.repeat(257), 5, null, undefined]) expect(await claims({ jti })).toMatchObject(refused);
    expect((await claims({ jti: 'x'.repeat(256) })).status).toBe(200);
    expect(await claims({ jti: 'y', more: 'x'.repeat(4096) })).toMatchObject(refused);
    const two = await service.app.inject({
      method: 'GET',
      url: path,
      headers: { authorization: `DPoP ${access}`, dpop: [proof(), proof()] },
    });
    expect(two.statusCode).toBe(401);
  });

  it('T420 a proof is used once, also with another signature of the same claims', async () => {
    const jti = 'once';
    expect((await claims({ jti })).status).toBe(200);
    const again = await claims({ jti });
    expect(again).toMatchObject(refused);
    expect(again.headers['www-authenticate']).toBe(
      'DPoP error="invalid_dpop_proof", error_description="The proof was used before.", algs="ES256 EdDSA"',
    );
    service.clock.advanceSeconds(59);
    expect(await claims({ jti })).toMatchObject(refused);
  });

  it('a refused proof writes nothing into the memory of proofs', async () => {
    const jti = 'kept';
    expect(await claims({ jti, htm: 'PUT' })).toMatchObject(refused);
    expect(
      await service.get(path, {
        headers: { authorization: `DPoP ${access}x`, dpop: key.proof('GET', path, `${access}x`, { claims: { jti } }) },
      }),
    ).toMatchObject({ status: 401 });
    expect((await claims({ jti })).status).toBe(200);
  });
});
