import { createHmac, createPublicKey, type JsonWebKey } from 'node:crypto';

import { type JWK, SignJWT } from 'jose';

import type { VerifierOptions } from '../dist/index.js';
import { createVerifier } from '../dist/verifier.js';
import { base64url, client, introspectionUrl, jwksUrl, type Key, newKey, verifying, World } from './world';

const valid = { status: 'valid', auth: { verified_by: 'signature' } };
const invalid = (reason: string) => ({ status: 'invalid', reason });

describe('the mode jwks', () => {
  let world: World;
  let current: Key;
  let next: Key;
  let foreign: Key;
  let rsa: Key;
  beforeAll(async () => {
    [current, next, foreign] = await Promise.all([newKey('current'), newKey('next'), newKey('foreign')]);
    rsa = await newKey('rsa', 'RS256');
  });
  beforeEach(() => {
    world = new World();
    world.published = [current];
  });
  const start = (more: Partial<VerifierOptions> = {}) =>
    createVerifier({ ...verifying, ...more } as VerifierOptions, world.ports);
  const fetches = () => world.asked.filter(({ url }) => url === jwksUrl).length;
  const questions = () => world.asked.filter(({ url }) => url === introspectionUrl).length;

  it('verifies ES256 and RS256 with one request for the keys, and what it cannot know stays undefined', async () => {
    world.published = [current, rsa];
    const guard = start();
    const verdicts = await Promise.all(
      [current, rsa, current].map(async (key) => guard.verify(await world.signed(key, { amr: ['hwk', 'mfa'] }))),
    );
    for (const verdict of verdicts)
      expect(verdict).toMatchObject({ ...valid, auth: { sub: 'user-1', tenant_id: 'root' } });
    expect(verdicts[0]).not.toHaveProperty('auth.is_admin');
    expect(verdicts[0]).not.toHaveProperty('auth.username');
    expect(world.asked).toEqual([{ url: jwksUrl, authorization: null }]);
  });

  it('a signature by another key is refused, whatever the token says (T335)', async () => {
    const guard = start();
    const token = await world.signed(current);
    const [head, body, signature] = token.split('.') as [string, string, string];
    const changed = base64url({ ...world.payload(), sub: 'user-2' });
    const forged = [
      await world.signed({ ...foreign, kid: 'current' }),
      `${head}.${changed}.${signature}`,
      `${head}.${body}.${signature.slice(0, 40)}`,
      await new SignJWT(world.payload())
        .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: 'current', jwk: foreign.jwk, jku: 'https://evil.example' })
        .sign(foreign.privateKey),
    ];
    for (const one of forged) expect(await guard.verify(one)).toEqual(invalid('signature'));
    expect(await guard.verify(token)).toMatchObject(valid);
    expect(fetches()).toBe(1);
  });

  it('a token has one text: another spelling of the same bytes is refused (RFC 4648 §3.5)', async () => {
    const guard = start();
    // 64 bytes of a signature leave four unused bits in the last character, 256 bytes leave four as well.
    for (const key of [current, rsa]) {
      world.published = [key];
      const token = await world.signed(key);
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const last = alphabet.indexOf(token.at(-1)!);
      const twin = token.slice(0, -1) + alphabet[last + 1];
      expect(Buffer.from(twin.split('.')[2]!, 'base64url')).toEqual(Buffer.from(token.split('.')[2]!, 'base64url'));
      expect(await guard.verify(twin)).toEqual(invalid('malformed'));
      expect(await guard.verify(`${token}=`)).toEqual(invalid('malformed'));
      world.advance(1);
      expect(await guard.verify(token)).toMatchObject(valid);
    }
  });

  it('"alg": "none" and HS256 with the public key as its secret are refused (RFC 8725 §2.1, T335)', async () => {
    const guard = start();
    const spki = createPublicKey({ key: current.jwk as JsonWebKey, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    });
    const hs256 = `${base64url({ alg: 'HS256', typ: 'JWT', kid: 'current' })}.${base64url(world.payload())}`;
    for (const secret of [spki, JSON.stringify(current.jwk), '']) {
      const signature = createHmac('sha256', secret).update(hs256).digest('base64url');
      expect(await guard.verify(`${hs256}.${signature}`)).toEqual(invalid('algorithm'));
    }
    for (const alg of ['none', 'None', 'ES384', 'PS256', ['ES256'], undefined, null]) {
      const token = world.unsigned({}, { alg, typ: 'JWT', kid: 'current' });
      expect(await guard.verify(token)).toMatchObject({ status: 'invalid' });
    }
    expect(await guard.verify(world.unsigned({}, { alg: 'none', typ: 'JWT' }).replace(/[^.]*$/, ''))).toEqual(
      invalid('malformed'),
    );
    // An RSA key is not used for ES256, and the other way round.
    world.published = [current, rsa];
    expect(await start().verify(await world.signed(rsa, {}, { kid: 'current' }))).toEqual(invalid('signature'));
  });

  it.each([
    ['another type', 'type', {}, { typ: 'logout+jwt' }],
    ['no type', 'type', {}, { typ: undefined }],
    ['no key id', 'malformed', {}, { kid: undefined }],
    ['a refresh token', 'type', { token_use: 'refresh' }, {}],
    ['another issuer', 'issuer', { iss: 'https://other.example.com' }, {}],
    ['another audience', 'audience', { aud: 'shop' }, {}],
    ['an expired token', 'expired', { exp: 1_800_000_000 }, {}],
    ['a token of the future', 'not_yet_valid', { nbf: 1_800_000_010 }, {}],
  ])('%s with a good signature is refused', async (_what, reason, changes, header) => {
    expect(await start().verify(await world.signed(current, changes, header))).toEqual(invalid(reason));
    expect(world.asked).toEqual([]);
  });

  it('an extension that must be understood is refused (RFC 7515 §4.1.11)', async () => {
    const header = { alg: 'ES256', typ: 'JWT', kid: 'current', crit: ['exp'], exp: 1 };
    const token = new SignJWT(world.payload()).setProtectedHeader(header);
    const text = await token.sign(current.privateKey, { crit: { exp: true } });
    expect(await start().verify(text)).toEqual(invalid('signature'));
  });

  it('a new key is found at its first token, and a removed one is refused after ten minutes', async () => {
    const guard = start();
    const old = await world.signed(current, { exp: world.epochSeconds + 7200 });
    expect(await guard.verify(old)).toMatchObject(valid);
    world.published = [next, current];
    world.advance(1);
    expect(await guard.verify(await world.signed(next))).toMatchObject(valid);
    expect(await guard.verify(old)).toMatchObject(valid);
    expect([fetches(), world.waits]).toEqual([2, []]);
    world.published = [next];
    world.advance(600);
    expect(await guard.verify(old)).toEqual(invalid('signature'));
  });

  it('a key that is published within the cool-down is found as well, a moment later', async () => {
    const guard = start();
    await guard.verify(await world.signed(current));
    world.published = [next, current];
    world.steadyMs += 400;
    expect(await guard.verify(await world.signed(next))).toMatchObject(valid);
    expect(world.waits).toEqual([600]);
  });

  it('a flood of unknown keys makes at most one request per second, and all of them are refused (T336)', async () => {
    const guard = start();
    const known = await world.signed(current);
    await guard.verify(known);
    const flood = await Promise.all(
      Array.from({ length: 200 }, (_, n) => world.signed(foreign, {}, { kid: `k-${n}` })),
    );
    const began = world.steadyMs;
    const verdicts = await Promise.all(flood.map((token) => guard.verify(token)));
    expect(new Set(verdicts.map((verdict) => JSON.stringify(verdict)))).toEqual(
      new Set([JSON.stringify(invalid('signature'))]),
    );
    expect(fetches()).toBeLessThanOrEqual(3);
    for (const token of flood.slice(0, 5)) await guard.verify(token);
    expect(fetches() - 1).toBeLessThanOrEqual((world.steadyMs - began) / 1000 + 1);
    // A known key needs no request, also during a flood.
    const before = fetches();
    expect(await guard.verify(known)).toMatchObject(valid);
    expect(fetches()).toBe(before);
  });

  it('the service down: known keys are used for ten minutes, and an unknown key is unavailable', async () => {
    const guard = start();
    const long = { exp: world.epochSeconds + 7200 };
    const [known, unknown] = [await world.signed(current, long), await world.signed(next, long)];
    await guard.verify(known);
    world.answer = () => Promise.reject(new TypeError('fetch failed'));
    world.advance(2);
    expect(await guard.verify(unknown)).toEqual({ status: 'unavailable', reason: 'connection', url: jwksUrl });
    // Within the cool-down of a failure nobody waits and nobody asks.
    const before = fetches();
    expect(await guard.verify(unknown)).toMatchObject({ status: 'unavailable' });
    expect([fetches() - before, world.waits]).toEqual([0, []]);

    world.advance(597);
    expect(await guard.verify(known)).toMatchObject(valid);
    world.advance(1);
    expect(await guard.verify(known)).toMatchObject({ status: 'unavailable' });
    world.answer = undefined;
    world.advance(1);
    expect(await guard.verify(known)).toMatchObject(valid);
  });

  it('after five minutes the keys are fetched again beside the requests', async () => {
    const guard = start();
    const known = await world.signed(current);
    await guard.verify(known);
    world.advance(300);
    let arrive: (answer: Response) => void = () => {};
    world.answer = () => new Promise((resolve) => (arrive = resolve));
    expect(await guard.verify(known)).toMatchObject(valid);
    expect(await guard.verify(known)).toMatchObject(valid);
    expect(fetches()).toBe(2);
    arrive(world.keySet());
  });

  it('parallel requests at the start share one request for the keys', async () => {
    const guard = start();
    const tokens = await Promise.all(Array.from({ length: 50 }, () => world.signed(current)));
    for (const verdict of await Promise.all(tokens.map((token) => guard.verify(token)))) {
      expect(verdict).toMatchObject(valid);
    }
    expect(fetches()).toBe(1);
  });

  it.each([
    ['no list', { keys: 'x' }],
    ['no keys', {}],
    ['a list of texts', { keys: ['x'] }],
    ['an array', []],
  ])('%s is no key set: unavailable', async (_what, answer) => {
    world.answer = () => Response.json(answer);
    const problem = { status: 'unavailable', reason: 'malformed_answer', url: jwksUrl };
    expect(await start().verify(await world.signed(current))).toEqual(problem);
  });

  it.each([
    ['a point that is not on the curve', (jwk: JWK) => [{ ...jwk, y: jwk.x }]],
    ['a key without its point', (jwk: JWK) => [{ ...jwk, y: undefined }]],
    ['a private key', (jwk: JWK) => [{ ...jwk, d: jwk.x }]],
    ['two keys of one id', (jwk: JWK) => [jwk, jwk]],
  ])('%s is unusable: unavailable, never a refusal', async (_what, change) => {
    world.answer = () => Response.json({ keys: change(current.jwk) });
    expect(await start().verify(await world.signed(current))).toMatchObject({ status: 'unavailable' });
  });

  it('a service that signs with HS256 publishes no keys, and its tokens are refused', async () => {
    world.published = [];
    const guard = start();
    expect(await guard.verify(world.unsigned({}, { alg: 'HS256', typ: 'JWT', kid: 'x' }))).toEqual(
      invalid('algorithm'),
    );
    expect(await guard.verify(await world.signed(current))).toEqual(invalid('signature'));
  });

  describe('with a client beside it', () => {
    it('a forged token costs the service no question (T335)', async () => {
      const guard = start(client);
      expect(await guard.verify(await world.signed({ ...foreign, kid: 'current' }))).toEqual(invalid('signature'));
      expect(questions()).toBe(0);
    });

    it('a revocation is seen within maxStaleSeconds, and at once without it', async () => {
      const [stale, exact, token] = [
        start({ ...client, maxStaleSeconds: 30 }),
        start(client),
        await world.signed(current),
      ];
      for (const guard of [stale, exact]) {
        expect(await guard.verify(token)).toMatchObject({ auth: { verified_by: 'introspection', is_admin: false } });
      }
      world.ended.add(token);
      expect(await exact.verify(token)).toEqual(invalid('not_active'));
      world.advance(29);
      expect(await stale.verify(token)).toMatchObject({ status: 'valid' });
      world.advance(1);
      expect(await stale.verify(token)).toEqual(invalid('not_active'));
    });

    it('a good signature alone does not pass while the service does not answer (T334)', async () => {
      const [guard, token] = [start({ ...client, maxStaleSeconds: 30 }), await world.signed(current)];
      world.answer = (url) => (url === jwksUrl ? world.keySet() : new Response(null, { status: 503 }));
      expect(await guard.verify(token)).toMatchObject({ status: 'unavailable', url: introspectionUrl });
    });
  });
});
