import { checkRequest, authenticateRequest, type VerifierOptions } from '../dist/index.js';
import { createVerifier } from '../dist/verifier.js';
import {
  asking,
  hashOf,
  introspectionUrl,
  type Key,
  newKey,
  newProver,
  type Payload,
  type Prover,
  verifying,
  World,
} from './world';

const origin = 'https://portal.example.com';
const url = `${origin}/orders`;
const invalid = (reason: string) => ({ status: 'invalid', reason });

interface Sent {
  readonly claims?: Payload;
  readonly header?: Payload;
  readonly scheme?: string;
  readonly by?: Prover;
  readonly path?: string;
  readonly method?: string;
}

describe('tokens that are bound to a key (RFC 9449)', () => {
  let world: World;
  let key: Key;
  let owner: Prover;
  let thief: Prover;
  let token: string;
  beforeAll(async () => {
    key = await newKey('current');
    [owner, thief] = await Promise.all([newProver(), newProver()]);
  });
  beforeEach(async () => {
    world = new World();
    world.published = [key];
    token = await world.signed(key, { cnf: owner.cnf });
  });
  const start = (more: Partial<VerifierOptions> = {}) =>
    createVerifier({ ...verifying, origins: origin, ...more } as VerifierOptions, world.ports);
  type Guard = ReturnType<typeof start>;

  /** What a client sends: a right request, unless the test changes it. */
  const request = async ({ claims = {}, header = {}, scheme = 'DPoP', by = owner, ...where }: Sent = {}) => {
    const { path = '/orders?page=2', method = 'GET' } = where;
    const proof = { htm: 'GET', htu: url, iat: world.epochSeconds, ath: hashOf(token), ...claims };
    const headers = {
      authorization: `${scheme} ${token}`,
      dpop: await by.proof(proof, header),
      host: 'portal.example.com',
    };
    return { headers, method, url: path };
  };
  const check = async (guard: Guard, sent?: Sent) => checkRequest(guard, await request(sent));

  it.each(['ES256', 'EdDSA'])('a proof of the key by %s passes, and the handler sees the thumbprint', async (alg) => {
    const other = await newProver(alg);
    token = await world.signed(key, { cnf: other.cnf });
    const verdict = await check(start(), { by: other });
    expect(verdict).toMatchObject({ status: 'valid', auth: { sub: 'user-1', cnf: other.cnf } });
  });

  it('a stolen bound token is refused as Bearer, with a proof beside it or not, and by verify() (T440)', async () => {
    const guard = start();
    expect(await check(guard, { scheme: 'Bearer' })).toEqual(invalid('bound'));
    expect(await checkRequest(guard, { headers: { authorization: `Bearer ${token}` } })).toEqual(invalid('bound'));
    expect(await guard.verify(token)).toEqual(invalid('bound'));
    expect(await checkRequest(guard, { headers: { authorization: `DPoP ${token}` }, url: '/orders' })).toEqual(
      invalid('proof'),
    );
  });

  it.each<[string, Sent]>([
    ['another method', { method: 'POST' }],
    ['another path', { path: '/invoices' }],
    ['another spelling of the path', { path: '/x/../orders' }],
    ['another host, whose server sends it on', { claims: { htu: 'https://evil.example/orders' } }],
    ['the other scheme', { claims: { htu: 'http://portal.example.com/orders' } }],
    ['another port', { claims: { htu: 'https://portal.example.com:444/orders' } }],
    ['no URL', { claims: { htu: '/orders' } }],
    ['another token', { claims: { ath: hashOf('another') } }],
    ['no token', { claims: { ath: undefined } }],
    ['a time of 61 seconds ago', { claims: { iat: 1_800_000_000 - 61 } }],
    ['a time in 61 seconds', { claims: { iat: 1_800_000_000 + 61 } }],
    ['no time', { claims: { iat: undefined } }],
    ['a time that is no number', { claims: { iat: '1800000000' } }],
    ['no id', { claims: { jti: undefined } }],
    ['another type', { header: { typ: 'JWT' } }],
    ['another algorithm than its own', { header: { alg: 'EdDSA' } }],
    ['no key', { header: { jwk: undefined } }],
  ])('a proof for %s is refused (T441)', async (_what, sent) => {
    // jose signs no header with a wrong algorithm, so the signature is the one of another header then.
    const made = await request({ ...sent, header: { ...sent.header, alg: 'ES256' } });
    const wanted = sent.header?.alg;
    if (wanted !== undefined) {
      const [, ...rest] = made.headers.dpop.split('.');
      const head = Buffer.from(JSON.stringify({ alg: wanted, typ: 'dpop+jwt', jwk: owner.jwk })).toString('base64url');
      made.headers.dpop = [head, ...rest].join('.');
    }
    expect(await checkRequest(start(), made)).toEqual(invalid('proof'));
  });

  it('a proof of the thief, one with the key of the owner, and one that shows a private key are refused (T441)', async () => {
    const guard = start();
    expect(await check(guard, { by: thief })).toEqual(invalid('proof'));
    expect(await check(guard, { by: thief, header: { jwk: owner.jwk } })).toEqual(invalid('proof'));
    const { d } = await crypto.subtle.exportKey('jwk', owner.privateKey);
    expect(await check(guard, { header: { jwk: { ...owner.jwk, d } } })).toEqual(invalid('proof'));
    for (const dpop of ['', 'x', '..', `${'a'.repeat(5000)}.a.a`]) {
      const { headers, ...rest } = await request();
      expect(await checkRequest(guard, { ...rest, headers: { ...headers, dpop } })).toEqual(invalid('proof'));
    }
    const made = await request();
    const twice = { ...made.headers, dpop: `${made.headers.dpop}, ${made.headers.dpop}` };
    expect(await checkRequest(guard, { ...made, headers: twice })).toEqual(invalid('proof'));
    expect(await checkRequest(guard, made)).toMatchObject({ status: 'valid' });
  });

  it('a proof passes once, as long as its time would be accepted (T442)', async () => {
    const guard = start();
    const made = await request({ claims: { iat: world.epochSeconds + 60 } });
    expect(await checkRequest(guard, made)).toMatchObject({ status: 'valid' });
    for (const seconds of [0, 1, 119]) {
      world.advance(seconds);
      expect(await checkRequest(guard, made)).toEqual(invalid('proof'));
    }
    expect(await check(guard)).toMatchObject({ status: 'valid' });
  });

  it('two processes with one replayStore accept a proof once, and a store that fails is 503 (T442)', async () => {
    const seen = new Map<string, number>();
    const replayStore = {
      firstUse: async (id: string, seconds: number) => {
        await Promise.resolve();
        if (seen.has(id)) return false;
        seen.set(id, seconds);
        return true;
      },
    };
    const [one, other] = [start({ replayStore }), start({ replayStore })];
    const made = await request();
    const verdicts = await Promise.all([one, other].map((guard) => checkRequest(guard, made)));
    expect(verdicts.map(({ status }) => status).sort()).toEqual(['invalid', 'valid']);
    expect([...seen.values()]).toEqual([61]);
    const broken = start({ replayStore: { firstUse: () => Promise.reject(new Error('connection lost')) } });
    expect(await check(broken)).toEqual({ status: 'unavailable', reason: 'replay_store', url: '' });
  });

  it('only the owner of the key gets a proof into the memory, so a flood of wrong proofs forgets nothing (T443)', async () => {
    const remembered: string[] = [];
    const replayStore = { firstUse: (id: string) => remembered.push(id) > 0 };
    const guard = start({ replayStore });
    await check(guard, { by: thief });
    await check(guard, { scheme: 'Bearer' });
    token = await world.signed(await newKey('foreign'), { cnf: owner.cnf });
    await check(guard);
    expect(remembered).toEqual([]);
  });

  it('a stolen bound token without its key costs the service no question', async () => {
    token = world.unsigned({ cnf: owner.cnf });
    const guard = createVerifier({ ...asking, origins: origin }, world.ports);
    expect(await check(guard, { claims: { ath: hashOf('another') } })).toEqual(invalid('proof'));
    expect(world.asked).toEqual([]);
    expect(await check(guard)).toMatchObject({ status: 'valid', auth: { cnf: owner.cnf, is_admin: false } });
    // The answer of a replica of a former version has no cnf, and the token stays bound.
    world.answer = () => world.introspection(token, { cnf: undefined });
    expect(await checkRequest(guard, { headers: { authorization: `Bearer ${token}` } })).toEqual(invalid('bound'));
    expect(world.asked.at(-1)).toMatchObject({ url: introspectionUrl });
  });

  it('an unbound token passes as before, and not with requireBinding or as DPoP', async () => {
    token = await world.signed(key);
    const bearer = { headers: { authorization: `Bearer ${token}` } };
    expect(await checkRequest(start({ origins: [] }), bearer)).toMatchObject({ status: 'valid' });
    expect(await checkRequest(start({ requireBinding: true }), bearer)).toEqual(invalid('unbound'));
    expect(await start({ requireBinding: true }).verify(token)).toEqual(invalid('unbound'));
    expect(await check(start())).toEqual(invalid('unbound'));
  });

  it.each([{ 'x5t#S256': 'abc' }, 'abc', null, { jkt: 1 }])(
    'a token bound by %j is not taken for an unbound one',
    async (cnf) => {
      token = await world.signed(key, { cnf });
      expect(await start().verify(token)).toEqual(invalid('malformed'));
    },
  );

  describe('the URL that the client asked', () => {
    it('can have several origins, and a path that a proxy removes', async () => {
      const guard = start({ origins: ['https://PORTAL.example.com:443/api/', 'http://orders.internal:8080'] });
      const valid = { status: 'valid' };
      expect(await check(guard, { claims: { htu: 'https://portal.example.com/api/orders' } })).toMatchObject(valid);
      expect(await check(guard, { claims: { htu: 'http://orders.internal:8080/orders?x#y' } })).toMatchObject(valid);
      expect(await check(guard)).toEqual(invalid('proof'));
    });

    it('is the whole path where a framework shortens it for a router', async () => {
      const made = await request({ path: '/' });
      expect(await checkRequest(start(), { ...made, originalUrl: '/orders?page=2' })).toMatchObject({
        status: 'valid',
      });
    });

    it('is what a trusted proxy says, and never what a client says (T444)', async () => {
      const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' };
      const relayed = async () => {
        const made = await request({ claims: { htu: 'https://evil.example/orders' } });
        return { ...made, headers: { ...made.headers, ...forwarded, host: 'evil.example' } };
      };
      expect(await checkRequest(start(), await relayed())).toEqual(invalid('proof'));
      const trusting = start({ origins: [], trustForwarded: true });
      expect(await checkRequest(trusting, await relayed())).toMatchObject({ status: 'valid' });
      const { headers, ...rest } = await request();
      const byHost = { ...rest, headers: { ...headers, 'x-forwarded-proto': 'https' } };
      expect(await checkRequest(trusting, byHost)).toMatchObject({ status: 'valid' });
      const twice = { ...rest, headers: { ...headers, 'x-forwarded-proto': ['https', 'https'] } };
      expect(await checkRequest(trusting, twice)).toMatchObject({ status: 'unavailable', reason: 'origin_unknown' });
    });

    it('must be known: without it a bound token is 503, and the operator is told', async () => {
      const told: unknown[] = [];
      const guard = start({ origins: [], onUnavailable: ({ reason }) => told.push(reason) });
      expect(await check(guard)).toEqual({ status: 'unavailable', reason: 'origin_unknown', url: '' });
      expect(told).toEqual(['origin_unknown']);
    });
  });

  it('each refusal tells the client what to send (RFC 9449 §7.1)', async () => {
    const guard = start();
    const refused = async (sent: Sent) => {
      const result = await authenticateRequest(guard, await request(sent));
      return 'refusal' in result ? [result.refusal.body.error, result.refusal.headers['www-authenticate']] : [];
    };
    expect(await refused({ scheme: 'Bearer' })).toEqual([
      'invalid_token',
      expect.stringMatching(/^DPoP realm="portal", error="invalid_token", .+, algs="ES256 EdDSA"$/),
    ]);
    expect(await refused({ by: thief })).toEqual([
      'invalid_dpop_proof',
      expect.stringMatching(/^DPoP realm="portal", error="invalid_dpop_proof", .+, algs="ES256 EdDSA"$/),
    ]);
    const none = await authenticateRequest(guard, { headers: {} });
    expect(none).toMatchObject({ refusal: { status: 401, headers: { 'www-authenticate': 'Bearer realm="portal"' } } });
  });

  it('a verifier of a test that has only verify() is asked for Bearer tokens', async () => {
    const stand: Pick<Guard, 'verify' | 'cachedTokens'> = { verify: start().verify, cachedTokens: 0 };
    token = await world.signed(key);
    expect(await checkRequest(stand, { headers: { authorization: `bearer ${token}` } })).toMatchObject({
      status: 'valid',
    });
    expect(await check(stand as Guard)).toEqual(invalid('proof'));
    expect(await checkRequest(stand, { headers: {} })).toEqual(invalid('missing'));
  });
});
