import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, EmbeddedJWK, exportJWK, type JWK } from 'jose';
import { type KeyPair, type KeyStore, memoryStorage, PortalAuth, type PortalAuthOptions } from '../dist/index.js';
import { type Asked, codeWanted, credentials, failure, fakeLocks, fresh, loggedInWith, no, ok, World } from './world';

interface Proof {
  readonly header: { readonly typ: string; readonly alg: string; readonly jwk: JWK };
  readonly claims: { readonly jti: string; htm: string; htu: string; iat: number; ath?: string };
}

const newPair = (): Promise<KeyPair> =>
  crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
const storeOf = (pair: KeyPair): KeyStore => ({ pair: () => Promise.resolve(pair) });
const hash = (text: string) => createHash('sha256').update(text).digest('base64url');
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const token = (claims: object) => `${encoded({ alg: 'HS256' })}.${encoded(claims)}.c2ln`;

/** Verifies the signature. */
async function proofOf({ dpop }: Pick<Asked, 'dpop'>): Promise<Proof> {
  const { payload, protectedHeader } = await compactVerify(dpop ?? '', EmbeddedJWK);
  return { header: protectedHeader as Proof['header'], claims: JSON.parse(new TextDecoder().decode(payload)) };
}

describe('tokens that are bound to a key (RFC 9449)', () => {
  let world: World;
  let pair: KeyPair;
  let jkt: string;
  let tokens: { readonly access: string; readonly refresh: string };
  beforeAll(async () => {
    pair = await newPair();
    jkt = await calculateJwkThumbprint(await exportJWK(pair.publicKey));
  });
  beforeEach(() => {
    world = new World();
    tokens = bound('1');
    world.on('/login', loggedInWith(tokens.access, tokens.refresh)).on('/user/me', ok({ login_name: 'alice' }));
  });

  const seconds = () => Math.floor(world.clock.now() / 1000);
  const bound = (jti: string, key = jkt) => {
    const claims = { jti, iat: seconds(), exp: seconds() + 900, cnf: { jkt: key } };
    return { access: token({ ...claims, use: 'a' }), refresh: token({ ...claims, use: 'r' }) };
  };
  const tab = (more: Partial<PortalAuthOptions> = {}) =>
    world.tab(memoryStorage(), { keyStore: storeOf(pair), locks: fakeLocks(), ...more });
  const signedIn = async (more?: Partial<PortalAuthOptions>) => {
    const auth = tab(more);
    await auth.login(credentials);
    return auth;
  };
  const sentTo = (path: string) => world.asked.filter((one) => one.path === path);
  const last = () => world.asked.at(-1)!;

  it('the sign-in, each call, the refresh and the sign-out carry a proof of their own', async () => {
    const next = bound('2');
    world
      .on('/user/me', no('AUTH_401002'), ok({ login_name: 'alice' }))
      .on('/refresh', fresh(next.access, next.refresh));
    world.on('/logout', ok({ result: true }));
    const auth = await signedIn();
    expect(auth.bound).toBe(true);
    await auth.me();
    await auth.logout();
    expect(auth.bound).toBe(false);
    const proofs = await Promise.all(world.asked.map(proofOf));
    const sent = world.asked.map(({ authorization }, i) => [
      authorization,
      proofs[i]!.claims.htm,
      proofs[i]!.claims.htu,
    ]);
    const at = (path: string) => `http://service.test${path}`;
    expect(sent).toEqual([
      [null, 'POST', at('/login')],
      [`DPoP ${tokens.access}`, 'GET', at('/user/me')],
      [null, 'POST', at('/refresh')],
      [`DPoP ${next.access}`, 'GET', at('/user/me')],
      [`DPoP ${next.refresh}`, 'POST', at('/logout')],
    ]);
    for (const [i, { header, claims }] of proofs.entries()) {
      expect(header).toEqual({ typ: 'dpop+jwt', alg: 'ES256', jwk: await exportJWK(pair.publicKey) });
      const { authorization, body } = world.asked[i]!;
      const sentToken = authorization?.replace('DPoP ', '') ?? (body.refresh_token as string | undefined);
      expect([claims.iat, claims.ath]).toEqual([seconds(), sentToken === undefined ? undefined : hash(sentToken)]);
    }
    expect(new Set(proofs.map(({ claims }) => claims.jti)).size).toBe(5);
  });

  it('the code of a second factor carries a proof of the key of the sign-in', async () => {
    world.on('/login', codeWanted).on('/otp-verify', ok({ ...wire(tokens), device_token: null }));
    const auth = await signedIn();
    await auth.verifyCode('123456');
    const [login, code] = await Promise.all(world.asked.map(proofOf));
    expect(code!.header.jwk).toEqual(login!.header.jwk);
    expect(auth.bound).toBe(true);
  });
  const wire = ({ access, refresh }: typeof tokens) => ({ result: true, access_token: access, refresh_token: refresh });

  it('a service that binds nothing is used with Bearer, and gets no further proof', async () => {
    const access = token({ jti: '1' });
    world.on('/login', loggedInWith(access, 'refresh-1')).on('/user/me', no('AUTH_401002'), ok({}));
    world.on('/refresh', fresh('access-2', 'refresh-2')).on('/logout', ok({ result: true }));
    const auth = await signedIn();
    await auth.me();
    await auth.logout();
    const later = world.asked.slice(1).map(({ authorization, dpop }) => [authorization, dpop]);
    expect(later).toEqual([access, 'refresh-1', 'access-2', 'refresh-2'].map((one) => [`Bearer ${one}`, null]));
  });

  it('a replica of version 1.0.0, which knows no DPoP, goes on with the session during an upgrade', async () => {
    const bearerOnly = (reply: ReturnType<typeof ok>) => (asked: Asked) =>
      asked.authorization?.startsWith('Bearer ') === true ? reply : no('AUTH_401001');
    world.on('/user/me', bearerOnly(ok({ login_name: 'alice' })));
    world.on('/refresh', ({ body }) =>
      body.refresh_token === tokens.refresh ? fresh('access-2', 'refresh-2') : no('AUTH_401006'),
    );
    const auth = await signedIn();
    await auth.me();
    expect([last().authorization, auth.snapshot.step.kind]).toEqual(['Bearer access-2', 'signed-in']);
  });

  it('without a page and without a storage, the key is in the memory of the object, and is not exportable', async () => {
    const alone = new PortalAuth({
      baseUrl: 'http://service.test',
      fetch: world.fetch as typeof fetch,
      clock: world.clock,
    });
    expect(await alone.keyProblem()).toBeUndefined();
    await alone.login(credentials);
    expect((await proofOf(last())).header.jwk).not.toEqual(await exportJWK(pair.publicKey));
  });

  it('tokens in a storage of the caller, which can outlive a key in memory, are bound only with a keyStore', async () => {
    for (const keyStore of [undefined, null]) {
      const auth = tab(keyStore === undefined ? { keyStore } : { keyStore });
      await auth.login(credentials);
      expect([last().dpop, await auth.keyProblem()]).toEqual([null, 'no-store']);
    }
  });

  describe('a clock that is an hour wrong', () => {
    /** Refuses a proof that is not of this minute, and tells the time. */
    const strict = (path: string, reply: ReturnType<typeof ok>) =>
      world.on(path, async (asked) => {
        const { claims } = await proofOf(asked);
        return Math.abs(claims.iat * 1000 - world.time!()) <= 60_000 ? reply : no('AUTH_401011');
      });

    it.each([-3600, 3600])('costs one more request, once (%i s)', async (wrong) => {
      world.time = () => world.clock.now() + wrong * 1000;
      strict('/login', loggedInWith(tokens.access, tokens.refresh));
      strict('/user/me', ok({}));
      const auth = await signedIn();
      await auth.me();
      await auth.me();
      expect([sentTo('/login').length, sentTo('/user/me').length]).toEqual([2, 2]);
      expect(auth.snapshot.step.kind).toBe('signed-in');
    });

    it('that is set right during a session costs one more request, and the user stays signed in', async () => {
      let wrong = 3_600_000;
      world.time = () => world.clock.now() + wrong;
      strict('/login', loggedInWith(tokens.access, tokens.refresh));
      strict('/user/me', ok({}));
      const auth = await signedIn();
      wrong = 0;
      await auth.me();
      expect(sentTo('/user/me').length).toBe(2);
      expect(auth.snapshot.step.kind).toBe('signed-in');
    });
  });

  describe('a service that knows itself by another address', () => {
    const picky = (otherwise: ReturnType<typeof ok>) =>
      world.on('/login', ({ dpop }) => (dpop === null ? otherwise : no('AUTH_401011')));

    it('binds nothing, and nobody is locked out', async () => {
      picky(loggedInWith(token({ jti: '1' }), 'refresh-1'));
      const auth = await signedIn();
      expect([auth.snapshot.step.kind, auth.bound, sentTo('/login').length]).toEqual(['signed-in', false, 2]);
    });

    it('refuses the sign-in if it demands bound tokens', async () => {
      picky(no('AUTH_401011'));
      expect(await failure(signedIn())).toMatchObject({ name: 'ServiceError', code: 'AUTH_401011' });
    });

    it('a request with a bound token is never sent without its proof (T446)', async () => {
      world.on('/user/me', no('AUTH_401011')).on('/refresh', no('AUTH_401011'));
      const auth = await signedIn();
      await failure(auth.me());
      for (const { authorization, dpop } of world.asked.slice(1)) {
        expect([authorization?.startsWith('Bearer') ?? false, typeof dpop]).toEqual([false, 'string']);
      }
    });
  });

  it('a program without a key learns why, where the service demands one', async () => {
    world.on('/login', no('AUTH_401011'));
    const auth = tab({ keyStore: null });
    expect(await failure(auth.login(credentials))).toMatchObject({ name: 'KeyError', problem: 'no-store' });
    expect([auth.snapshot.step.kind, sentTo('/login').length]).toEqual(['signed-out', 1]);
  });

  it('a key store that fails fails the sign-in: it does not silently bind nothing', async () => {
    const keyStore = { pair: () => Promise.reject(new Error('connection lost')) };
    expect(await failure(tab({ keyStore }).login(credentials))).toMatchObject({ name: 'ConnectionError' });
    expect(world.asked).toEqual([]);
  });

  describe('a key that is gone while the tokens are still there', () => {
    const lost = async () => {
      await signedIn();
      return tab({ keyStore: storeOf(await newPair()) });
    };

    it('ends the session, and nothing of it is sent', async () => {
      const auth = await lost();
      expect(await failure(auth.me())).toMatchObject({ code: 'AUTH_401011' });
      expect(auth.snapshot.step).toEqual({ kind: 'signed-out', notice: 'session-ended' });
      expect(world.storage.getItem('portal-auth.session')).toBeNull();
      expect(world.asked.map(({ path }) => path)).toEqual(['/login']);
      expect(await failure(auth.me())).toMatchObject({ rule: 'signed-out' });
    });

    it('ends it for fetch() and for a sign-out as well', async () => {
      const auth = await lost();
      await failure(auth.fetch('https://orders.test/'));
      expect(auth.snapshot.step).toMatchObject({ notice: 'session-ended' });
      const other = await lost();
      await other.logout();
      expect(other.snapshot.step).toEqual({ kind: 'signed-out' });
      expect(world.storage.getItem('portal-auth.sign-outs')).toBeNull();
    });

    it('a store that cannot be read at the moment ends nothing', async () => {
      await signedIn();
      const auth = tab({ keyStore: { pair: () => Promise.reject(new Error('connection lost')) } });
      expect(await failure(auth.me())).toMatchObject({ name: 'ConnectionError' });
      expect(auth.snapshot.step.kind).toBe('signed-in');
    });

    it('another tab has made a new key and signed in: this tab uses it', async () => {
      await signedIn();
      const other = await newPair();
      const key = await calculateJwkThumbprint(await exportJWK(other.publicKey));
      const next = bound('2', key);
      world.on('/login', loggedInWith(next.access, next.refresh));
      let stored = pair;
      const sharing = tab({ keyStore: { pair: () => Promise.resolve(stored) } });
      await sharing.me();
      stored = other;
      await sharing.login(credentials);
      await sharing.me();
      expect(await calculateJwkThumbprint((await proofOf(last())).header.jwk)).toBe(key);
    });
  });

  it('an unbound session ends where the service has begun to demand bound ones, and the user signs in again', async () => {
    world.on(
      '/login',
      loggedInWith(token({ jti: '1' }), token({ jti: '2' })),
      loggedInWith(tokens.access, tokens.refresh),
    );
    world.on('/user/me', no('AUTH_401011'), ok({})).on('/refresh', no('AUTH_401011'));
    const auth = await signedIn();
    await failure(auth.me());
    expect(auth.snapshot.step).toEqual({ kind: 'signed-out', notice: 'session-ended' });
    await auth.login(credentials);
    await auth.me();
    expect(auth.bound).toBe(true);
  });

  it('a sign-out that the service did not hear is sent with its key after a reload', async () => {
    world.on('/logout', no('COMMON_503001', 2), ok({ result: true }));
    const auth = await signedIn();
    await failure(auth.logout());
    auth.dispose();
    tab();
    await new Promise((resolve) => setTimeout(resolve, 0));
    while (sentTo('/logout').length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    const [one, other] = sentTo('/logout');
    expect(other).toMatchObject({ authorization: `DPoP ${tokens.refresh}` });
    expect((await proofOf(other!)).claims.jti).not.toBe((await proofOf(one!)).claims.jti);
  });

  describe('fetch()', () => {
    const next = () => bound('2');

    it('sends token and proof to any service, with the body and the headers of the caller', async () => {
      world.on('/orders', ok({ id: 7 }));
      const auth = await signedIn();
      const init = { method: 'POST', headers: { 'x-page': '2' }, body: '{"item":1}' };
      const answer = await auth.fetch('https://orders.test/orders?dry=1#top', init);
      expect([answer.status, last().body, last().authorization]).toEqual([200, { item: 1 }, `DPoP ${tokens.access}`]);
      const { claims } = await proofOf(last());
      expect(claims).toMatchObject({ htm: 'POST', htu: 'https://orders.test/orders', ath: hash(tokens.access) });
    });

    it('an unbound token goes as Bearer', async () => {
      world.on('/orders', ok({})).on('/login', loggedInWith('access-1', 'refresh-1'));
      const auth = await signedIn();
      await auth.fetch('https://orders.test/orders');
      expect(last()).toMatchObject({ authorization: 'Bearer access-1', dpop: null });
    });

    it('renews a token that ends in a moment before it is sent', async () => {
      const auth = await signedIn();
      world.time = () => world.clock.now();
      await auth.me();
      world.clock.jump(895);
      const { access, refresh } = next();
      world.on('/refresh', fresh(access, refresh)).on('/orders', ok({}));
      await auth.fetch('https://orders.test/orders');
      expect(world.asked.slice(-2)).toMatchObject([
        { path: '/refresh', body: { refresh_token: tokens.refresh } },
        { path: '/orders', authorization: `DPoP ${access}` },
      ]);
    });

    it('after a 401 to an old token, sends the whole request once more with a new one', async () => {
      const auth = await signedIn();
      world.time = () => world.clock.now();
      await auth.me();
      world.clock.jump(100);
      const { access, refresh } = next();
      world.on('/orders', { status: 401, body: {} }).on('/refresh', fresh(access, refresh));
      const answer = await auth.fetch('https://orders.test/orders', { method: 'PUT', body: '{"item":1}' });
      expect(answer.status).toBe(401);
      expect(sentTo('/orders').map(({ authorization, body }) => [authorization, body])).toEqual([
        [`DPoP ${tokens.access}`, { item: 1 }],
        [`DPoP ${access}`, { item: 1 }],
      ]);
      // A service that refuses everything causes no flood of refreshes.
      await auth.fetch('https://orders.test/orders');
      expect([sentTo('/refresh').length, sentTo('/orders').length]).toEqual([1, 3]);
    });

    it('a 401 that asks for more than a token causes no refresh (RFC 9470)', async () => {
      const auth = await signedIn();
      world.clock.jump(100);
      const challenge = { 'www-authenticate': 'DPoP realm="portal", error="insufficient_user_authentication"' };
      world.on('/orders', { status: 401, body: {}, headers: challenge });
      expect((await auth.fetch('https://orders.test/orders')).status).toBe(401);
      expect(sentTo('/orders').length).toBe(1);
    });

    it('headersFor() makes the headers of one request', async () => {
      const auth = await signedIn();
      const { authorization, dpop } = await auth.headersFor('https://orders.test/orders?x', 'DELETE');
      expect(authorization).toBe(`DPoP ${tokens.access}`);
      expect((await proofOf({ dpop: dpop! })).claims).toMatchObject({
        htm: 'DELETE',
        htu: 'https://orders.test/orders',
      });
    });

    it('needs a signed-in user', async () => {
      expect(await failure(tab().fetch('https://orders.test/orders'))).toMatchObject({ rule: 'signed-out' });
    });
  });
});
