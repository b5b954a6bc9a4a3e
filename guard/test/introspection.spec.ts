import { inspect } from 'node:util';

import type { Unavailable, Verdict, VerifierOptions } from '../dist/index.js';
import { createVerifier } from '../dist/verifier.js';
import { asking, audience, claimsOf, client, introspectionUrl, issuer, World } from './world';

const valid = { status: 'valid' };
const notActive = { status: 'invalid', reason: 'not_active' };
const malformed = { status: 'unavailable', reason: 'malformed_answer', url: introspectionUrl };

describe('the mode introspection', () => {
  let world: World;
  beforeEach(() => (world = new World()));
  const start = (more: Partial<VerifierOptions> = {}) =>
    createVerifier({ ...asking, ...more } as VerifierOptions, world.ports);

  it('tells who calls, in the claims of the answer', async () => {
    const token = world.unsigned({ amr: ['pwd', 'otp'], org_unit_id: 'sales' });
    const claims: Record<string, unknown> = claimsOf(token);
    delete claims.token_use;
    const checked = { verified_by: 'introspection', verified_at: world.epochSeconds, username: 'ann', is_admin: false };
    expect(await start().verify(token)).toEqual({ ...valid, auth: { ...claims, ...checked } });
    const basic = `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`;
    expect(world.asked).toEqual([{ url: introspectionUrl, authorization: basic }]);
  });

  it('tells the groups of the user, which nobody can change for other requests; a former service has none', async () => {
    const guard = start({ maxStaleSeconds: 30 });
    const token = world.unsigned();
    world.answer = () => world.introspection(token, { groups: ['Editors', 'Sales, EMEA'] });
    const verdict = await guard.verify(token);
    expect(verdict).toMatchObject({ ...valid, auth: { groups: ['Editors', 'Sales, EMEA'] } });
    expect(() => ((verdict as unknown as { auth: { groups: string[] } }).auth.groups[0] = 'Admins')).toThrow(TypeError);
    const former = world.unsigned();
    world.answer = () => world.introspection(former);
    expect(await guard.verify(former)).not.toHaveProperty('auth.groups');
  });

  it('by default each request is a question, so a token that has ended is refused at once', async () => {
    const [guard, token] = [start(), world.unsigned()];
    expect(await guard.verify(token)).toMatchObject(valid);
    expect(guard.cachedTokens).toBe(0);
    world.ended.add(token);
    expect(await guard.verify(token)).toEqual(notActive);
    expect(world.asked).toHaveLength(2);
  });

  it('an answer is used for maxStaleSeconds and no longer, even when the clock of the computer is set back (T338)', async () => {
    const [guard, token] = [start({ maxStaleSeconds: 30 }), world.unsigned()];
    expect(await guard.verify(token)).toMatchObject(valid);
    world.ended.add(token);
    world.advance(29);
    expect(await guard.verify(token)).toMatchObject(valid);
    expect(world.asked).toHaveLength(1);
    world.advance(1);
    world.epochSeconds -= 30;
    expect(await guard.verify(token)).toEqual(notActive);
    expect(world.asked).toHaveLength(2);
  });

  it('an answer is as old as its question, not as its arrival', async () => {
    const [guard, token] = [start({ maxStaleSeconds: 30 }), world.unsigned()];
    world.answer = (_url, body) => {
      const answer = world.introspection(body.get('token')!);
      world.advance(20);
      return answer;
    };
    await guard.verify(token);
    world.advance(10);
    await guard.verify(token);
    expect(world.asked).toHaveLength(2);
  });

  it('a cached answer does not outlive the token (T338)', async () => {
    const [guard, token] = [start({ maxStaleSeconds: 3600 }), world.unsigned()];
    await guard.verify(token);
    world.advance(900);
    expect(await guard.verify(token)).toEqual({ status: 'invalid', reason: 'expired' });
  });

  it('a refusal is not cached, so a token counts again as soon as the service says so', async () => {
    const [guard, token] = [start({ maxStaleSeconds: 30 }), world.unsigned()];
    world.ended.add(token);
    expect(await guard.verify(token)).toEqual(notActive);
    world.ended.clear();
    expect(await guard.verify(token)).toMatchObject(valid);
    expect(guard.cachedTokens).toBe(1);
  });

  it('a failure is not cached', async () => {
    const [guard, token] = [start({ maxStaleSeconds: 30 }), world.unsigned()];
    world.answer = () => new Response(null, { status: 503 });
    expect(await guard.verify(token)).toMatchObject({ status: 'unavailable' });
    world.answer = undefined;
    expect(await guard.verify(token)).toMatchObject(valid);
  });

  it('parallel questions about one token are asked once, and each token gets its own answer', async () => {
    const guard = start();
    const [ann, bob] = [world.unsigned({ sub: 'ann' }), world.unsigned({ sub: 'bob' })];
    world.ended.add(bob);
    const verdicts = await Promise.all(Array.from({ length: 200 }, (_, n) => guard.verify(n % 2 === 0 ? ann : bob)));
    expect(world.asked).toHaveLength(2);
    verdicts.forEach((verdict, n) => expect(verdict).toMatchObject(n % 2 === 0 ? { auth: { sub: 'ann' } } : notActive));
  });

  it('a parallel question that fails fails for all, and the next request asks again', async () => {
    const [guard, token] = [start(), world.unsigned()];
    world.answer = () => new Response('', { status: 500 });
    const verdicts = await Promise.all([guard.verify(token), guard.verify(token)]);
    expect(verdicts.map(({ status }) => status)).toEqual(['unavailable', 'unavailable']);
    world.answer = undefined;
    expect(await guard.verify(token)).toMatchObject(valid);
    expect(world.asked).toHaveLength(2);
  });

  it('handlers share a cached answer and cannot change it for each other (T338)', async () => {
    const [guard, token] = [start({ maxStaleSeconds: 30 }), world.unsigned()];
    const { auth } = (await guard.verify(token)) as Extract<Verdict, { status: 'valid' }>;
    expect(() => ((auth as { is_admin?: boolean }).is_admin = true)).toThrow(TypeError);
    expect(() => (auth.amr as string[]).push('otp')).toThrow(TypeError);
    expect(await guard.verify(token)).toMatchObject({ auth: { is_admin: false, amr: ['pwd'] } });
  });

  it.each([
    ['a refresh token', 'type', { token_use: 'refresh' }],
    ['a token of no declared use', 'type', { token_use: undefined }],
    ['another issuer', 'issuer', { iss: 'https://auth.example.com/' }],
    ['another audience', 'audience', { aud: 'portal2' }],
    ['a list of other audiences', 'audience', { aud: ['portal2', 'por', 'tal'] }],
    ['an expired token', 'expired', { exp: 1_800_000_000 }],
    ['a token of the future', 'not_yet_valid', { iat: 1_800_000_061 }],
    ['a token before its nbf', 'not_yet_valid', { nbf: 1_800_000_001 }],
    ['an nbf that is no number', 'not_yet_valid', { nbf: '0' }],
    ['no expiry', 'malformed', { exp: undefined }],
    ['an expiry in words', 'malformed', { exp: '2099' }],
    ['an endless expiry', 'malformed', { exp: 1e300 }],
    ['no session', 'malformed', { sid: undefined }],
    ['a subject that is no text', 'malformed', { sub: { $ne: '' } }],
  ])('%s is refused without a question', async (_what, reason, changes) => {
    expect(await start().verify(world.unsigned(changes))).toEqual({ status: 'invalid', reason });
    expect(world.asked).toEqual([]);
  });

  it.each([
    ['', '.', '..', 'x', 'a.b', 'a.b.c', 'a.b.c.d', 'é.é.é', ' '],
    ['x'.repeat(9000), `${'e30.'.repeat(3)}`, 'bnVsbA.bnVsbA.bnVsbA', 'W10.W10.W10', undefined, null, 7, {}],
  ])('texts that are no token are malformed (%#)', async (...texts) => {
    for (const text of texts) {
      expect(await start().verify(text as string)).toMatchObject({ status: 'invalid' });
    }
    expect(world.asked).toEqual([]);
  });

  it('a token for several audiences is accepted when ours is among them', async () => {
    expect(await start().verify(world.unsigned({ aud: ['shop', audience] }))).toMatchObject(valid);
  });

  it.each([
    ['no JSON', () => new Response('<html>')],
    ['an empty body', () => new Response('')],
    ['an array', () => Response.json([{ active: true }])],
    ['null', () => Response.json(null)],
    ['no word on active', () => Response.json({})],
    ['active as a text', () => Response.json({ active: 'false' })],
    ['active without claims', () => Response.json({ active: true })],
  ])('%s is no answer: unavailable, never a refusal', async (_what, answer) => {
    world.answer = answer;
    expect(await start().verify(world.unsigned())).toEqual(malformed);
  });

  it.each([
    ['of another token', { jti: 'jti-0' }],
    ['of another user', { sub: 'user-2' }],
    ['of another session', { sid: 'session-2' }],
    ['of another issuer', { iss: `${issuer}/2` }],
    ['of a longer life', { exp: 1_900_000_000 }],
    ['of a refresh token', { token_type: 'refresh' }],
    ['of no type', { token_type: undefined }],
    ['without is_admin', { is_admin: undefined }],
    ['with is_admin as a text', { is_admin: 'false' }],
    ['with groups as a text', { groups: 'Editors' }],
    ['without a user name', { username: null }],
    ['with amr as a text', { amr: 'mfa' }],
  ])('an answer %s is not believed', async (_what, changes) => {
    world.answer = (_url, body) => world.introspection(body.get('token')!, changes);
    const guard = start({ maxStaleSeconds: 30 });
    expect(await guard.verify(world.unsigned())).toEqual(malformed);
    expect(guard.cachedTokens).toBe(0);
  });

  it.each([
    [429, 'rate_limited', { 'retry-after': '7' }, 7],
    [429, 'rate_limited', { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, undefined],
    [503, 'unexpected_status', { 'retry-after': '5' }, 5],
    [500, 'unexpected_status', {}, undefined],
    [401, 'client_refused', {}, undefined],
    [302, 'unexpected_status', { location: 'http://127.0.0.1:1/' }, undefined],
    [404, 'unexpected_status', {}, undefined],
    [204, 'unexpected_status', {}, undefined],
  ])('status %i is unavailable, and its cause is told', async (status, reason, headers, retryAfterSeconds) => {
    world.answer = () => new Response(null, { status, headers });
    const problems: Unavailable[] = [];
    const verdict = await start({ onUnavailable: (problem) => problems.push(problem) }).verify(world.unsigned());
    const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    expect(verdict).toEqual({ status: 'unavailable', reason, url: introspectionUrl, ...retry });
    expect(problems).toEqual([verdict]);
  });

  it('more tokens than maxCachedTokens are never cached', async () => {
    const guard = start({ maxStaleSeconds: 3600, maxCachedTokens: 100 });
    for (let n = 0; n < 1000; n += 1) await guard.verify(world.unsigned());
    expect(guard.cachedTokens).toBeGreaterThanOrEqual(50);
    expect(guard.cachedTokens).toBeLessThanOrEqual(100);
  });

  it('neither the secret nor a token is shown where the verifier is printed (T339)', async () => {
    const [guard, token] = [start({ maxStaleSeconds: 30 }), world.unsigned()];
    await guard.verify(token);
    const shown = inspect(guard, { depth: Infinity, showHidden: true });
    for (const secret of [client.clientSecret, token]) expect(shown).not.toContain(secret);
  });
});
