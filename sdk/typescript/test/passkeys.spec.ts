import { PasskeyError, type PasskeyBrowser, type PortalAuth } from '../dist/index.js';
import { changeWanted, codeWanted, credentials, failure, fresh, loggedIn, no, ok, settled, World } from './world';

const time = '2026-01-05T09:00:00.000Z';
const challenge = (id: string) => ok({ challenge_id: id, options: { challenge: `bytes of ${id}` } });

interface Ceremony {
  readonly kind: 'create' | 'get' | 'autofill';
  readonly options: object;
  readonly signal: AbortSignal;
  readonly answer: (response: object) => void;
  readonly refuse: (error: unknown) => void;
}

/** A browser whose user answers when the test says so. */
class FakeBrowser implements PasskeyBrowser {
  loads = 0;
  readonly ceremonies: Ceremony[] = [];

  readonly load = (): Promise<PasskeyBrowser> => {
    this.loads++;
    return Promise.resolve(this);
  };

  support() {
    return Promise.resolve({ passkeys: true, autofill: true, platform: false });
  }

  create(options: object, signal: AbortSignal): Promise<object> {
    return this.start('create', options, signal);
  }

  get(options: object, signal: AbortSignal, autofill: boolean): Promise<object> {
    return this.start(autofill ? 'autofill' : 'get', options, signal);
  }

  get latest(): Ceremony {
    return this.ceremonies.at(-1)!;
  }

  private start(kind: Ceremony['kind'], options: object, signal: AbortSignal): Promise<object> {
    return new Promise((answer, refuse) => {
      if (signal.aborted) return refuse(new PasskeyError('aborted'));
      signal.addEventListener('abort', () => refuse(new PasskeyError('aborted')));
      this.ceremonies.push({ kind, options, signal, answer, refuse });
    });
  }
}

const open = (world: World) => {
  const browser = new FakeBrowser();
  return { browser, tab: world.tab(undefined, { passkeys: browser.load }) };
};

async function signedIn(world: World): Promise<{ browser: FakeBrowser; tab: PortalAuth }> {
  const { browser, tab } = open(world.on('/login', loggedIn));
  await tab.login(credentials);
  return { browser, tab };
}

describe('signInWithPasskey()', () => {
  const world = () => new World().on('/login/passkey-options', challenge('c-1'), challenge('c-2'));

  it('signs in with the response of the browser, without a user name and without a code', async () => {
    const there = world().on('/login/passkey', loggedIn);
    const { browser, tab } = open(there);
    const result = tab.signInWithPasskey();
    await settled();
    expect(browser.latest).toMatchObject({ kind: 'get', options: { challenge: 'bytes of c-1' } });
    browser.latest.answer({ id: 'key' });
    expect(await result).toEqual({ kind: 'signed-in' });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
    expect(there.asked.map(({ path, body, bearer }) => [path, body, bearer])).toEqual([
      ['/login/passkey-options', {}, undefined],
      ['/login/passkey', { challenge_id: 'c-1', response: { id: 'key' } }, undefined],
    ]);
  });

  it('leads to the change of a temporary password, and opens no session', async () => {
    const { browser, tab } = open(world().on('/login/passkey', changeWanted));
    const result = tab.signInWithPasskey();
    await settled();
    browser.latest.answer({});
    expect(await result).toEqual({ kind: 'password-change', uid: 'r-1' });
  });

  it('ends a login that waits for its code', async () => {
    const { browser, tab } = open(world().on('/login', codeWanted).on('/login/passkey', loggedIn));
    await tab.login(credentials);
    const result = tab.signInWithPasskey();
    await settled();
    browser.latest.answer({});
    expect(await result).toEqual({ kind: 'signed-in' });
    await tab.logout().catch(() => undefined);
    expect(tab.snapshot.step.kind).toBe('signed-out');
  });

  it('a prompt that the user closes is a PasskeyError, sends nothing, and changes nothing', async () => {
    const there = world();
    const { browser, tab } = open(there);
    const result = failure(tab.signInWithPasskey());
    await settled();
    browser.latest.refuse(new PasskeyError('cancelled'));
    expect(await result).toMatchObject({ name: 'PasskeyError', problem: 'cancelled' });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out' });
    expect(there.count('/login/passkey')).toBe(0);
  });

  it('a passkey that the service does not accept is PASSKEY_401001', async () => {
    const { browser, tab } = open(world().on('/login/passkey', no('PASSKEY_401001')));
    const result = failure(tab.signInWithPasskey());
    await settled();
    browser.latest.answer({});
    expect(await result).toMatchObject({ name: 'ServiceError', code: 'PASSKEY_401001', status: 401 });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out' });
  });

  it('after a 429 no request is sent before its time is over', async () => {
    const there = world().on('/login/passkey-options', no('COMMON_429001', 30), challenge('c-1'));
    const { browser, tab } = open(there);
    await failure(tab.signInWithPasskey());
    expect(tab.snapshot.waiting.passkey).toBe(30);
    expect(await failure(tab.signInWithPasskey({ autofill: true }))).toMatchObject({ rule: 'wait', seconds: 30 });
    expect(there.asked).toHaveLength(1);
    await there.clock.pass(30);
    expect(tab.snapshot.waiting.passkey).toBe(0);
    void failure(tab.signInWithPasskey());
    await settled();
    expect(browser.ceremonies).toHaveLength(1);
  });
});

describe('the autofill of passkeys', () => {
  const world = () =>
    new World().on('/login/passkey-options', ...['c-1', 'c-2', 'c-3'].map(challenge)).on('/login/passkey', loggedIn);

  it('waits for the user, and signs in', async () => {
    const { browser, tab } = open(world());
    const onChosen = jest.fn();
    const result = tab.signInWithPasskey({ autofill: true, onChosen });
    await settled();
    expect(browser.latest.kind).toBe('autofill');
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out' });
    expect(onChosen).not.toHaveBeenCalled();
    browser.latest.answer({});
    expect(await result).toEqual({ kind: 'signed-in' });
    expect(onChosen).toHaveBeenCalledTimes(1);
  });

  it('gets a new challenge before the service refuses the old one', async () => {
    const there = world();
    const { browser, tab } = open(there);
    const result = tab.signInWithPasskey({ autofill: true });
    await there.clock.pass(239);
    expect(browser.ceremonies).toHaveLength(1);
    await there.clock.pass(1);
    expect(browser.ceremonies.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    browser.latest.answer({});
    await result;
    expect(there.asked.at(-1)).toMatchObject({ path: '/login/passkey', body: { challenge_id: 'c-2' } });
    await there.clock.pass(1000);
    expect(there.count('/login/passkey-options')).toBe(2);
  });

  it('ends when its signal is aborted, also before the challenge has arrived', async () => {
    const there = world();
    const { browser, tab } = open(there);
    const running = new AbortController();
    const result = failure(tab.signInWithPasskey({ autofill: true, signal: running.signal }));
    await settled();
    running.abort();
    expect(await result).toMatchObject({ name: 'PasskeyError', problem: 'aborted' });
    expect(browser.latest.signal.aborted).toBe(true);

    there.on('/login/passkey-options', () => new Promise<never>(() => undefined));
    const waiting = new AbortController();
    const unanswered = failure(tab.signInWithPasskey({ autofill: true, signal: waiting.signal }));
    await settled();
    waiting.abort();
    expect(await unanswered).toMatchObject({ problem: 'aborted' });
    await there.clock.pass(1000);
    expect(browser.ceremonies).toHaveLength(1);
  });

  it('makes way for a prompt, also while its challenge has not arrived, and ends no prompt', async () => {
    const there = world().on('/login/passkey-options', () => new Promise<never>(() => undefined), challenge('c-2'));
    const { browser, tab } = open(there);
    const autofill = failure(tab.signInWithPasskey({ autofill: true }));
    await settled();
    const prompt = tab.signInWithPasskey();
    expect(await autofill).toMatchObject({ problem: 'aborted' });
    await settled();
    expect(await failure(tab.signInWithPasskey({ autofill: true }))).toMatchObject({ problem: 'aborted' });
    expect(browser.ceremonies.map(({ kind, signal }) => [kind, signal.aborted])).toEqual([['get', false]]);
    browser.latest.answer({});
    expect(await prompt).toEqual({ kind: 'signed-in' });
  });

  it('ends with dispose()', async () => {
    const { browser, tab } = open(world());
    const result = failure(tab.signInWithPasskey({ autofill: true }));
    await settled();
    tab.dispose();
    expect(await result).toMatchObject({ problem: 'aborted' });
    expect(browser.latest.signal.aborted).toBe(true);
  });
});

describe('the code for passkeys', () => {
  it('is loaded once, by the first call that needs it', async () => {
    const there = new World().on('/login', loggedIn).on('GET /passkeys', ok({ passkeys: [] }));
    const { browser, tab } = open(there.on('/login/passkey-options', no('COMMON_503001', 1)));
    await tab.login(credentials);
    await tab.passkeys();
    expect(browser.loads).toBe(0);
    expect(await tab.passkeySupport()).toEqual({ passkeys: true, autofill: true, platform: false });
    await failure(tab.signInWithPasskey());
    expect(browser.loads).toBe(1);
  });

  it('that does not load is a ConnectionError, and is loaded again by the next call', async () => {
    const browser = new FakeBrowser();
    const loads = [() => Promise.reject(new TypeError('no script')), browser.load];
    const tab = new World().tab(undefined, { passkeys: () => loads.shift()!() });
    expect(await failure(tab.signInWithPasskey())).toMatchObject({ name: 'ConnectionError' });
    expect(await tab.passkeySupport()).toMatchObject({ passkeys: true });
  });

  it('that was not given means no support, and sends no request', async () => {
    const there = new World();
    const tab = there.tab();
    expect(await tab.passkeySupport()).toEqual({ passkeys: false, autofill: false, platform: false });
    expect(await failure(tab.signInWithPasskey())).toMatchObject({ name: 'PasskeyError', problem: 'not-supported' });
    expect(there.asked).toEqual([]);
  });
});

describe('the passkeys of a user', () => {
  it('registerPasskey() sends the name and the response of the browser, and returns the passkey', async () => {
    const there = new World()
      .on('/passkeys/options', ok({ challenge: 'bytes' }))
      .on('POST /passkeys', ok({ id: 'p-1', name: 'My phone', created_at: time }));
    const { browser, tab } = await signedIn(there);
    const result = tab.registerPasskey('My phone');
    await settled();
    expect(browser.latest).toMatchObject({ kind: 'create', options: { challenge: 'bytes' } });
    browser.latest.answer({ id: 'key' });
    expect(await result).toEqual({ id: 'p-1', name: 'My phone', createdAt: new Date(time) });
    expect(there.asked.at(-1)).toMatchObject({
      path: '/passkeys',
      body: { name: 'My phone', response: { id: 'key' } },
      bearer: 'access-1',
    });
  });

  it('a login that is too old is AUTH_403002, shows no prompt, and keeps the session', async () => {
    const there = new World().on('/passkeys/options', no('AUTH_403002')).on('DELETE /passkeys/p-1', no('AUTH_403002'));
    const { browser, tab } = await signedIn(there);
    for (const call of [tab.registerPasskey('My phone'), tab.removePasskey('p-1')])
      expect(await failure(call)).toMatchObject({ name: 'ServiceError', code: 'AUTH_403002', status: 403 });
    expect(browser.ceremonies).toEqual([]);
    expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
  });

  it('a passkey that this device has already is refused by the browser, and nothing is sent', async () => {
    const there = new World().on('/passkeys/options', ok({}));
    const { browser, tab } = await signedIn(there);
    const result = failure(tab.registerPasskey('Again'));
    await settled();
    browser.latest.refuse(new PasskeyError('already-registered'));
    expect(await result).toMatchObject({ name: 'PasskeyError', problem: 'already-registered' });
    expect(there.count('/passkeys')).toBe(0);
  });

  it('a token that expires during the prompt is renewed, and the prompt is not shown again', async () => {
    const there = new World()
      .on('/passkeys/options', ok({}))
      .on('/refresh', fresh('access-9'))
      .on('POST /passkeys', ({ bearer }) =>
        bearer === 'access-9' ? ok({ id: 'p-1', name: 'My phone', created_at: time }) : no('AUTH_401002'),
      );
    const { browser, tab } = await signedIn(there);
    const result = tab.registerPasskey('My phone');
    await settled();
    browser.latest.answer({});
    await there.clock.pass(1);
    expect(await result).toMatchObject({ id: 'p-1' });
    expect(browser.ceremonies).toHaveLength(1);
  });

  it('passkeys() lists them with dates, and an id cannot lead to another path', async () => {
    const one = { id: 'p-1', name: 'My phone', created_at: time, last_used_at: null, backed_up: true };
    const there = new World()
      .on('GET /passkeys', ok({ passkeys: [one, { ...one, id: 'p-2', last_used_at: time, backed_up: false }] }))
      .on('PATCH /passkeys/p-1', ok({ ...one, name: 'Old phone' }))
      .on('DELETE /passkeys/p-1', ok({ result: true }));
    const { tab } = await signedIn(there);
    const first = { id: 'p-1', name: 'My phone', createdAt: new Date(time), lastUsedAt: null, backedUp: true };
    expect(await tab.passkeys()).toEqual([first, { ...first, id: 'p-2', lastUsedAt: new Date(time), backedUp: false }]);
    await tab.renamePasskey('p-1', 'Old phone');
    expect(there.asked.at(-1)).toMatchObject({ method: 'PATCH', path: '/passkeys/p-1', body: { name: 'Old phone' } });
    await tab.removePasskey('p-1');
    expect(there.asked.at(-1)).toMatchObject({ method: 'DELETE', path: '/passkeys/p-1', bearer: 'access-1' });
    await failure(tab.removePasskey('../recovery-codes'));
    expect(there.asked.at(-1)!.path).toBe('/passkeys/..%2Frecovery-codes');
  });

  it('no method sends a request without a session', async () => {
    const there = new World();
    const { browser, tab } = open(there);
    const calls = [
      tab.passkeys(),
      tab.registerPasskey('My phone'),
      tab.renamePasskey('p-1', 'Old phone'),
      tab.removePasskey('p-1'),
    ];
    for (const call of calls) expect(await failure(call)).toMatchObject({ rule: 'signed-out' });
    expect(there.asked).toEqual([]);
    expect(browser.ceremonies).toEqual([]);
  });
});
