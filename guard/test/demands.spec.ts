import type { Demands, VerifierOptions } from '../dist/index.js';
import { authenticate, verifier } from '../dist/index.js';
import { createVerifier } from '../dist/verifier.js';
import { requireAccessToken as express } from '../dist/express.js';
import { requireAccessToken as fastify } from '../dist/fastify.js';
import { StepUp } from '../dist/nest.js';
import { asking, type Key, newKey, type Payload, verifying, World } from './world';

const two = 'urn:portal:acr:2';
const one = 'urn:portal:acr:1';

/** docs/spec/extensions.md#acr */
describe.each(['introspection', 'jwks'] as const)('what a route demands of a sign-in, in the mode %s', (mode) => {
  let world: World;
  let key: Key;
  beforeAll(async () => {
    key = await newKey('current');
  });
  beforeEach(() => {
    world = new World();
    world.published = [key];
  });
  const start = (more: Partial<VerifierOptions> = {}) =>
    createVerifier({ ...(mode === 'jwks' ? verifying : asking), ...more } as VerifierOptions, world.ports);
  const token = (claims: Payload) =>
    mode === 'jwks' ? world.signed(key, claims) : Promise.resolve(world.unsigned(claims));
  const judged = async (claims: Payload, demands?: Demands, more: Partial<VerifierOptions> = {}) => {
    const verdict = await start(more).verify(await token(claims), demands);
    return verdict.status === 'valid' ? 'valid' : verdict.reason;
  };
  const ago = (seconds: number) => ({ auth_time: world.epochSeconds - seconds, acr: one });

  it('an age up to maxAgeSeconds passes, one second more does not', async () => {
    for (const demand of [
      [{ maxAgeSeconds: 300 }, {}],
      [undefined, { maxAgeSeconds: 300 }],
    ] as const) {
      expect(await judged(ago(300), ...demand)).toBe('valid');
      expect(await judged(ago(301), ...demand)).toBe('too_old');
    }
    expect(await judged(ago(0), { maxAgeSeconds: 0 })).toBe('valid');
    expect(await judged(ago(1), { maxAgeSeconds: 0 })).toBe('too_old');
  });

  it('requireFactor passes two factors and nothing else', async () => {
    for (const demand of [
      [{ requireFactor: true }, {}],
      [undefined, { requireFactor: true }],
    ] as const) {
      expect(await judged({ acr: two }, ...demand)).toBe('valid');
      for (const acr of [one, 'urn:portal:acr:22', 'URN:PORTAL:ACR:2', '', undefined]) {
        expect([acr, await judged({ acr, amr: ['pwd', 'otp'] }, ...demand)]).toEqual([acr, 'one_factor']);
      }
    }
  });

  it('a token of version 1.0.0, without the claims, passes without a demand and meets none', async () => {
    expect(await judged({})).toBe('valid');
    expect(await judged({}, { maxAgeSeconds: 1_000_000 })).toBe('too_old');
    expect(await judged({}, { requireFactor: true })).toBe('one_factor');
  });

  it('a route asks for more than its verifier, and never for less', async () => {
    const strict = { maxAgeSeconds: 60, requireFactor: true };
    expect(await judged({ ...ago(100), acr: two }, { maxAgeSeconds: 3600 }, strict)).toBe('too_old');
    expect(await judged({ ...ago(30), acr: one }, { requireFactor: false }, strict)).toBe('one_factor');
    expect(await judged({ ...ago(30), acr: two }, { maxAgeSeconds: 10 }, strict)).toBe('too_old');
  });

  it('claims of another type are malformed, and a sign-in of the future is not valid yet', async () => {
    for (const claims of [{ auth_time: '1' }, { auth_time: 1.5 }, { auth_time: null }, { acr: 2 }, { acr: [two] }]) {
      expect([claims, await judged(claims)]).toEqual([claims, 'malformed']);
    }
    expect(await judged({ auth_time: world.epochSeconds + 60, acr: one }, { maxAgeSeconds: 0 })).toBe('valid');
    expect(await judged({ auth_time: world.epochSeconds + 61, acr: one })).toBe('not_yet_valid');
  });

  it('an invalid token stays invalid: nobody is asked to sign in because of a forged one', async () => {
    expect(await judged({ aud: 'shop' }, { requireFactor: true })).toBe('audience');
    expect(await judged({ exp: world.epochSeconds }, { maxAgeSeconds: 1 })).toBe('expired');
  });

  it('the answer is 401 with all that the client has to ask for (RFC 9470 §3)', async () => {
    const guard = start({ maxAgeSeconds: 300 });
    const answered = async (claims: Payload, demands?: Demands) => {
      const result = await authenticate(guard, `Bearer ${await token(claims)}`, demands);
      return 'auth' in result ? 'auth' : [result.refusal.status, result.refusal.headers['www-authenticate']];
    };
    const begin = 'Bearer realm="portal", error="insufficient_user_authentication", error_description=';
    const more = { requireFactor: true };
    expect(await answered({ ...ago(1), acr: two }, more)).toBe('auth');
    expect(await answered(ago(301))).toEqual([401, `${begin}"The user has to sign in again.", max_age="300"`]);
    expect(await answered(ago(1), more)).toEqual([
      401,
      `${begin}"The user has to use a second factor.", max_age="300", acr_values="${two}"`,
    ]);
  });
});

describe('an answer of the cache', () => {
  it('gets older: the age is that of the request, not that of the question', async () => {
    const world = new World();
    const guard = createVerifier({ ...asking, maxStaleSeconds: 600 }, world.ports);
    const token = world.unsigned({ auth_time: world.epochSeconds, acr: one });
    const demands = { maxAgeSeconds: 60 };
    expect(await guard.verify(token, demands)).toMatchObject({ status: 'valid' });
    world.advance(61);
    expect(await guard.verify(token, demands)).toEqual({ status: 'insufficient', reason: 'too_old', ...demands });
    expect(await guard.verify(token)).toMatchObject({ status: 'valid' });
    expect(world.asked).toHaveLength(1);
  });

  it('is what counts, and not what an unsigned token says of itself', async () => {
    const world = new World();
    const guard = createVerifier(asking, world.ports);
    world.answer = (_url, body) => world.introspection(body.get('token')!, { acr: one, auth_time: 1 });
    const token = world.unsigned({ auth_time: world.epochSeconds, acr: two });
    expect(await guard.verify(token, { requireFactor: true })).toMatchObject({ reason: 'one_factor' });
    expect(await guard.verify(token, { maxAgeSeconds: 60 })).toMatchObject({ reason: 'too_old' });
  });
});

describe('a wrong demand is an error of the program, and is named', () => {
  const wrong: [object, string][] = [
    [{ maxAgeSeconds: '300' }, 'maxAgeSeconds must be a whole number from 0'],
    [{ maxAgeSeconds: -1 }, 'maxAgeSeconds must be a whole number from 0'],
    [{ maxAgeSeconds: Number.NaN }, 'maxAgeSeconds must be a whole number from 0'],
    [{ requireFactor: 'true' }, 'requireFactor must be true or false'],
    [{ maxAge: 300 }, 'maxAge is no'],
  ];
  it.each(wrong)('%j', async (demands, message) => {
    const guard = verifier(asking);
    for (const use of [() => express(guard, demands), () => fastify(guard, demands), () => StepUp(demands)]) {
      expect(use).toThrow(`guard: ${message}`);
    }
    await expect(guard.verify('x', demands as Demands)).rejects.toThrow(`guard: ${message}`);
    expect(() => verifier({ ...asking, ...demands })).toThrow(/^verifier: maxAge|^verifier: requireFactor/);
  });
});
