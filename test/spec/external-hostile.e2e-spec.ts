import { generateKeyPairSync } from 'node:crypto';
import { ProviderLimits } from '../../src/identity-providers/connection/provider-limits';
import { ProviderRequestCounts } from '../../src/identity-providers/provider-request-counts';
import { TestService } from '../support/app';
import { PersonsBrowser } from '../support/external-sign-in';
import { RunningClock } from '../support/fakes';
import { type Answer, type Claims, HostileProvider, type Lies, rsaKey } from '../support/hostile-provider';
import { givenIdentityProvider } from '../support/identity-providers';

/** Something that must not be found anywhere. */
const canary = 'canary-7f3a91';
const html = `<img src=x onerror=alert(1)>${canary}`;
const stranger = rsaKey();
const day = 86_400;
const huge = 'x'.repeat(1_100_000);

const claim =
  (name: string, value: unknown): Lies['claims'] =>
  (honest) => ({ ...honest, [name]: value });
const json = (body: unknown, status = 200): Answer => ({ status, body });
const page = (status: number): Answer => ({ status, headers: { 'content-type': 'text/html' }, body: html });
const redirect = (status: number): Answer => ({ status, headers: { location: 'http://127.0.0.1:9/elsewhere' } });

/** Each makes an answer that the service must refuse as wrong (LOGIN_401013). */
const wrong: Record<string, Lies> = {
  'a signature of another key': { idToken: (claims) => provider.idToken(claims, { key: stranger }) },
  'a key that is not published': { idToken: (claims) => provider.idToken(claims, { kid: 'other', key: stranger }) },
  'no signature (alg none)': { idToken: (claims) => provider.idToken(claims, { alg: 'none' }) },
  'HS256 with the public key': {
    idToken: (claims) => provider.idToken(claims, { alg: 'HS256', key: JSON.stringify(provider.publicKey()) }),
  },
  'HS256 with the client secret': {
    idToken: (claims) => provider.idToken(claims, { alg: 'HS256', key: provider.clientSecret }),
  },
  'a critical header': { idToken: (claims) => provider.idToken(claims, { crit: ['x'], x: 1 }) },
  'an algorithm that discovery does not list': {
    idToken: (claims) => provider.idToken(claims, { alg: 'PS256' }),
  },
  'two keys of one kid, without a way to tell them apart': {
    keys: () => json({ keys: [provider.publicKey(), provider.publicKey(provider.kid, stranger)] }),
  },
  'a key that is for encryption': { keys: () => json({ keys: [{ ...provider.publicKey(), use: 'enc' }] }) },
  'a kid of another kind of key': { keys: () => json({ keys: [ecKey()] }) },
  'ten thousand keys': {
    keys: () =>
      json({ keys: Array.from({ length: 10_000 }, (_, n) => ({ kty: 'RSA', kid: `${n}`, n: 'AQAB', e: 'AQAB' })) }),
  },
  'another nonce': { claims: claim('nonce', 'another') },
  'no nonce': { claims: claim('nonce', undefined) },
  'another audience': { claims: claim('aud', 'elsewhere') },
  'a list of audiences without azp': { claims: (honest) => ({ ...honest, aud: [honest.aud, 'elsewhere'] }) },
  'an azp of another client': {
    claims: (honest) => ({ ...honest, aud: [honest.aud, 'elsewhere'], azp: 'elsewhere' }),
  },
  'no audience': { claims: claim('aud', []) },
  'an issuer with a slash': { claims: (honest) => ({ ...honest, iss: `${String(honest.iss)}/` }) },
  'an issuer in capitals': { claims: (honest) => ({ ...honest, iss: String(honest.iss).toUpperCase() }) },
  'another issuer': { claims: claim('iss', 'https://elsewhere.example.com') },
  'no expiry': { claims: claim('exp', undefined) },
  'an expiry of yesterday': { claims: (honest) => ({ ...honest, exp: Number(honest.iat) - day }) },
  'an expiry that is a text': { claims: (honest) => ({ ...honest, exp: String(honest.exp) }) },
  'no iat': { claims: claim('iat', undefined) },
  'an iat that is a text': { claims: (honest) => ({ ...honest, iat: String(honest.iat) }) },
  'an auth_time that is a text': { claims: claim('auth_time', 'now') },
  'a negative auth_time': { claims: claim('auth_time', -1) },
  'an nbf of tomorrow': { claims: (honest) => ({ ...honest, nbf: Number(honest.iat) + day }) },
  'no sub': { claims: claim('sub', undefined) },
  'an empty sub': { claims: claim('sub', '') },
  'a sub of 256 characters': { claims: claim('sub', 's'.repeat(256)) },
  'a sub that is a number': { claims: claim('sub', 7) },
  'a sub that is null': { claims: claim('sub', null) },
  'a sub of userinfo that is another one': { userinfo: (honest) => json({ ...honest, sub: 'another' }) },
  'userinfo without a sub': { userinfo: (honest) => json({ ...honest, sub: undefined }) },
  'no ID token': { token: (honest) => json({ ...honest, id_token: undefined }) },
  'an ID token that is no token': { token: (honest) => json({ ...honest, id_token: canary }) },
  'an ID token of five parts': { token: (honest) => json({ ...honest, id_token: 'a.b.c.d.e' }) },
  'keys that are no key set': { keys: () => json({ keys: canary }) },
  'keys in a file': { discovery: (honest) => json({ ...honest, jwks_uri: 'file:///etc/passwd' }) },
  'no token endpoint': { discovery: (honest) => json({ ...honest, token_endpoint: undefined }) },
  'a refusal with HTML in its description': {
    token: () => json({ error: 'invalid_grant', error_description: html, error_uri: `https://${canary}.example` }, 400),
  },
  'an error whose code is HTML': { token: () => json({ error: html }, 400) },
};

/** Each is no answer at all (LOGIN_503002). */
const away: Record<string, Lies> = {
  'a redirect of discovery': { discovery: () => redirect(302) },
  'a redirect of the keys': { keys: () => redirect(307) },
  'a redirect of the token endpoint': { token: () => redirect(308) },
  'a redirect of userinfo': { userinfo: () => redirect(303) },
  'a page instead of discovery': { discovery: () => page(200) },
  'a page instead of a token': { token: () => page(200) },
  'a refusal of our secret': { token: () => json({ error: 'invalid_client', error_description: html }, 400) },
  'a refusal of our client with another word': { token: () => json({ error: 'access_denied' }, 401) },
  'a client that may not do this': { token: () => json({ error: 'unauthorized_client' }, 400) },
  'an error page': { token: () => page(500) },
  'a status that does not exist': { token: () => ({ status: 799 }) },
  'JSON that is cut off': { token: (honest) => ({ body: JSON.stringify(honest).slice(0, -9) }) },
  'JSON that is no object': { discovery: () => ({ body: '[]' }) },
  'a discovery document of a megabyte': { discovery: (honest) => json({ ...honest, more: huge }) },
  'a token answer of a megabyte': { token: (honest) => json({ ...honest, more: huge }) },
  'a compressed answer': { token: (honest) => ({ body: honest, headers: { 'content-encoding': 'gzip' } }) },
  'keys at an inner address': { discovery: (honest) => json({ ...honest, jwks_uri: 'http://localhost:9/keys' }) },
  'tokens at the metadata service': {
    discovery: (honest) => json({ ...honest, token_endpoint: 'https://169.254.169.254/token' }),
  },
  'another issuer in discovery': { discovery: (honest) => json({ ...honest, issuer: `${String(honest.issuer)}/` }) },
  'only symmetric algorithms': {
    discovery: (honest) => json({ ...honest, id_token_signing_alg_values_supported: ['HS256', 'none'] }),
  },
};

/** The claims lie, and the person is bound: the sign-in works, or the claim is not believed. */
const claims: Record<string, Claims> = {
  HTML: { name: html, email: `${html}@acme.example`, groups: [html] },
  'control characters': { name: `a\u0000b\u001b[31m\n${canary}`, email: 'a\u0000@acme.example' },
  'text that runs backwards': { name: `\u202e${canary}\u2066`, preferred_username: `\u202enna` },
  'a name of half a megabyte': { name: canary + 'x'.repeat(500_000) },
  'numbers and objects': { name: 7, email: { toString: canary }, preferred_username: [canary], groups: 'admins' },
  'ten thousand groups': { groups: Array.from({ length: 10_000 }, (_, n) => `${canary}-${n}`) },
  'rights of an administrator': { is_admin: true, tenant_id: 'root', isAdmin: true, roles: ['admin'] },
  prototypes: JSON.parse(`{"__proto__": {"isAdmin": true}, "constructor": "${canary}"}`) as Claims,
  'an auth_time in a thousand years': { auth_time: 32_503_680_000 },
  'an auth_time beyond every date': { auth_time: 1e300 },
  'amr and acr that are no texts': { amr: { mfa: true }, acr: ['urn:acme:strong'] },
};

let provider: HostileProvider;

describe('an identity provider that lies', () => {
  let service: TestService;
  let client = 0;
  const limits = () => service.app.get(ProviderLimits, { strict: false });

  beforeAll(async () => {
    service = await TestService.start({ MFA_REQUIRED: 'false' }, { clock: new RunningClock() });
    provider = await HostileProvider.start(() => service.clock.now());
    const { issuer, clientId, clientSecret: secret } = provider;
    await givenIdentityProvider(service, {
      ...{ id: 'acme', issuer, clientId, secret, jit: true, trustMfa: true, domains: ['acme.example'] },
      acrValues: ['urn:acme:strong'],
      claims: { login_name: 'preferred_username', email: 'email', nickname: 'name', groups: 'groups' },
    });
    // Nothing of one lie is remembered at the next one.
    Object.assign(limits(), { keptMs: 0, failuresToAvoid: Infinity, answerMs: 60_000, connectMs: 60_000 });
    expect(await come({}, ann)).toMatchObject({ status: 200 });
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });

  const ann = { sub: 'ann', preferred_username: 'ann', email: 'ann@acme.example' };

  /** A whole sign-in. @returns the answer to the code, or the code of the error to which it led */
  async function come(lies: Lies, person: Claims): Promise<{ status: number; code?: string; amr?: string[] }> {
    provider.lies = lies;
    provider.clientId = `portal-${++client}`;
    await service.database.affected('UPDATE identity_providers SET client_id = ?', [provider.clientId]);
    const browser = new PersonsBrowser(service, 'acme');
    const begun = await browser.begin();
    if (begun.status !== 200) return { status: begun.status, code: String(begun.body.error_code) };
    const query = new URLSearchParams(provider.signIn(begun.body.data.redirect_to as string, person));
    const { at, external, ...rest } = await browser.callback(`/login/external/acme/callback?${query.toString()}`);
    expect(at).toBe('http://portal.test/');
    if (external === undefined) {
      // Nothing but a code of this service.
      expect(rest).toEqual({ error: expect.stringMatching(/^LOGIN_\d{6}$/) });
      return { status: 0, code: rest.error };
    }
    const answer = await browser.redeem(external);
    return { status: answer.status, code: answer.body.error_code as string | undefined, ...answer.body.data };
  }

  const sessions = () => service.count('login_tokens');
  const logs = () => JSON.stringify(service.logLines);

  async function refused(lies: Lies, code: string): Promise<void> {
    const before = [await sessions(), await service.count('users'), await service.count('external_identities')];
    // Userinfo is asked, because the ID token has no nickname.
    expect((await come(lies, ann)).code).toBe(code);
    expect([await sessions(), await service.count('users'), await service.count('external_identities')]).toEqual(
      before,
    );
    expect(logs()).not.toContain(canary);
  }

  it.each(Object.entries(wrong))('refuses %s (T526, T527)', (_what, lies) => refused(lies, 'LOGIN_401013'));

  it.each(Object.entries(away))('takes %s for an outage (T520, T521, T522, T523)', (_what, lies) =>
    refused(lies, 'LOGIN_503002'),
  );

  it('a provider that refuses our secret, in whatever form, is logged with the word invalid_client', async () => {
    const challenge = { 'www-authenticate': `Basic realm="${canary}"` };
    for (const token of [json({ error: 'invalid_client' }, 400), { status: 401, headers: challenge }]) {
      const before = service.logLines.length;
      await refused({ token: () => token }, 'LOGIN_503002');
      expect(JSON.stringify(service.logLines.slice(before))).toContain('"reason":"invalid_client"');
    }
  });

  it.each(['discovery', 'keys', 'token', 'userinfo'] as const)(
    'waits no longer than its limit for %s (T523)',
    async (what) => {
      const former = limits().answerMs;
      Object.assign(limits(), { answerMs: 300 });
      await refused({ [what]: () => 'hang' }, 'LOGIN_503002');
      Object.assign(limits(), { answerMs: former });
    },
  );

  it.each(Object.entries(claims))('believes no claim that it cannot use: %s (T528)', async (_what, lie) => {
    const { status } = await come({}, { ...ann, ...lie });
    expect([status]).toEqual([200]);
    expect(logs()).not.toContain(canary);
    const [row] = await service.database.rows<Record<string, unknown>>(
      `SELECT login_name, is_admin, tenant_id, email FROM users`,
    );
    expect({ ...row, is_admin: Number(row!.is_admin) }).toEqual({
      ...{ login_name: 'ann', is_admin: 0, tenant_id: 'root', email: 'ann@acme.example' },
    });
    expect(await service.count('users')).toBe(1);
  });

  it.each([
    { error: html, error_description: html },
    { error: 'access_denied', error_description: html, error_uri: 'javascript:alert(1)' },
    { code: html, iss: html },
    { response: 'x.y.z', code: 'x' },
  ])(
    'leads back with a code of this service alone, whatever the query of the callback says: %j (T529)',
    async (lie) => {
      const browser = new PersonsBrowser(service, 'acme');
      const begun = await browser.begin();
      const { state = '' } = provider.signIn(begun.body.data.redirect_to as string, ann);
      const query = new URLSearchParams({ state, iss: provider.issuer, ...(lie as object) });
      const led = await browser.callback(`/login/external/acme/callback?${query.toString()}`);
      expect(led).toEqual({ at: 'http://portal.test/', error: 'LOGIN_401013' });
      expect(logs()).not.toContain(canary);
    },
  );

  it.each([['x'.repeat(4097)], ['a\u0000'], ['caf\u00e9'], ['a\u007f']])(
    'asks the provider nothing about a code that no provider issues (%#) (T524)',
    async (code) => {
      const browser = new PersonsBrowser(service, 'acme');
      const begun = await browser.begin();
      const { state = '' } = provider.signIn(begun.body.data.redirect_to as string, ann);
      const asked = () => ({ ...service.app.get(ProviderRequestCounts, { strict: false }).all.get(provider.issuer) });
      const before = asked();
      const query = new URLSearchParams({ state, iss: provider.issuer, code });
      const led = await browser.callback(`/login/external/acme/callback?${query.toString()}`);
      expect([led, asked()]).toEqual([{ at: 'http://portal.test/', error: 'LOGIN_401013' }, before]);
    },
  );

  it('an honest provider is believed afterwards, and new keys as soon as they are used (T525)', async () => {
    expect((await come({}, ann)).status).toBe(200);
    provider.key = stranger;
    expect((await come({}, ann)).status).toBe(200);
  });
});

function ecKey(): Claims {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...publicKey.export({ format: 'jwk' }), kid: 'first' };
}
