import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { Redis as RedisClient } from 'ioredis';
import { TestService } from '../support/app';
import { CountingProxy } from '../support/counting-proxy';
import { FakeClock } from '../support/fakes';
import { newMails } from '../support/reset';
import { runScript } from '../support/run-script';
import { Chromium } from '../support/servers/chromium';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { Redis } from '../support/servers/redis';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, password } from '../support/settings';

const folder = resolve(__dirname, '../../examples/next-page');
const origin = 'http://pages.test';

/** A browser that follows no redirect, so a test sees each answer. */
class Browser {
  cookie = '';

  async ask(site: { readonly url: string }, path: string, form?: Record<string, string>, from = origin) {
    const answer = await fetch(site.url + path, {
      redirect: 'manual',
      headers: { cookie: this.cookie, ...(form && { origin: from }) },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    const [set] = answer.headers.getSetCookie();
    if (set !== undefined) this.cookie = set.split(';')[0]!;
    // React divides a text and a value by a comment.
    const text = (await answer.text()).replaceAll('<!-- -->', '');
    return { status: answer.status, location: answer.headers.get('location'), set, text };
  }
}

/** Two replicas of the built example in front of the whole service, whose clock the test moves. */
describe('examples/next-page', () => {
  let service: TestService;
  let proxy: CountingProxy;
  let redis: Redis;
  let store: RedisClient;
  let env: Record<string, string>;
  let replicas: ServiceProcess[] = [];

  const start = async (more: Record<string, string> = {}, port?: number): Promise<ServiceProcess> => {
    const PORT = `${port ?? (await freePort())}`;
    return ServiceProcess.start({
      script: 'examples/next-page/node_modules/next/dist/bin/next',
      args: ['start', '--port', PORT, '--hostname', '127.0.0.1'],
      cwd: folder,
      env: { ...env, ...more, PORT },
      ready: '/health',
    });
  };

  beforeAll(async () => {
    const { code, output } = await runScript('scripts/build-next-example.mjs');
    if (code !== 0) throw new Error(output);
    const port = await freePort();
    service = await TestService.start(
      { PORT: `${port}`, MFA_REQUIRED: 'true', REFRESH_TOKEN_ROTATION: 'true' },
      { clock: new FakeClock(new Date()) },
    );
    await service.app.listen(port, '127.0.0.1');
    proxy = await CountingProxy.start(port);
    redis = await Redis.start();
    store = new RedisClient(redis.url);
    env = {
      AUTH_URL: proxy.url,
      // No test depends on it: it is longer than a busy machine takes.
      AUTH_TIMEOUT_MS: '60000',
      NEXT_TELEMETRY_DISABLED: '1',
      REDIS_URL: redis.url,
      SESSION_SECRET: randomBytes(32).toString('base64'),
      SITE_URL: origin,
    };
    replicas = await Promise.all([start(), start()]);
  }, 600_000);
  afterAll(async () => {
    await Promise.all(replicas.map((one) => one.stop()));
    store?.disconnect();
    await Promise.all([redis?.stop(), proxy?.stop()]);
    await service?.stop();
  });

  /** Signs a new user in, with the mailed code. @returns the answers of both steps */
  const signIn = async (browser: Browser, username: string) => {
    await service.givenUser(username);
    const first = await browser.ask(one(), '/session', { username, password, captcha_token: captchaToken });
    const code = /\b\d{6}\b/.exec((await newMails(service)).at(-1)?.text ?? '')![0];
    return [first, await browser.ask(other(), '/session/code', { code })] as const;
  };
  const one = () => replicas[0]!;
  const other = () => replicas[1]!;
  const expireAccessTokens = () => service.clock.advanceSeconds(16 * 60);

  it('signs in with two steps on two replicas, each with a new id, and both know the user', async () => {
    const browser = new Browser();
    expect(await browser.ask(one(), '/')).toMatchObject({ status: 307, location: '/sign-in' });
    const [first, second] = await signIn(browser, 'ann');
    expect(first).toMatchObject({ status: 303, location: '/sign-in' });
    expect(second).toMatchObject({ status: 303, location: '/' });
    for (const { set } of [first, second]) expect(set).toMatch(/^session=[\w-]+; Path=\/; HttpOnly; SameSite=lax$/);
    for (const replica of replicas) expect((await browser.ask(replica, '/')).text).toContain('Hello, ann');
    const before = Object.assign(new Browser(), { cookie: first.set!.split(';')[0]! });
    expect(before.cookie).not.toBe(browser.cookie);
    expect(await before.ask(one(), '/')).toMatchObject({ status: 307, location: '/sign-in' });
  });

  it('says what was wrong, and keeps no session', async () => {
    await service.givenUser('bob');
    const browser = new Browser();
    const form = { username: 'bob', password: 'Wrong-Horse-7', captcha_token: captchaToken };
    const { location, set } = await browser.ask(one(), '/session', form);
    expect({ location, set }).toEqual({ location: '/sign-in?problem=LOGIN_401001', set: undefined });
    expect((await browser.ask(one(), location!)).text).toContain('The user name or password is wrong.');
  });

  it('20 requests over two replicas that find the access token expired use one refresh token once', async () => {
    const browser = new Browser();
    await signIn(browser, 'cleo');
    for (let round = 1; round <= 3; round++) {
      expireAccessTokens();
      const before = proxy.countOf('/refresh');
      const pages = await Promise.all(Array.from({ length: 20 }, (_, n) => browser.ask(replicas[n % 2]!, '/')));
      expect(pages.map(({ status, text }) => [status, text.includes('Hello, cleo')])).toEqual(
        pages.map(() => [200, true]),
      );
      expect(proxy.countOf('/refresh') - before).toBe(1);
    }
  });

  it('a replica that dies before it has stored the new tokens does not end the session', async () => {
    const browser = new Browser();
    await signIn(browser, 'igor');
    expireAccessTokens();
    proxy.losesAnswersOf = '/refresh';
    const dying = await start({ AUTH_TIMEOUT_MS: '1000' });
    const lost = browser.ask(dying, '/').catch(() => 'no answer');
    await eventually(() => proxy.lost > 0, { what: 'the service to answer' });
    await dying.kill();
    await lost;
    proxy.losesAnswersOf = undefined;
    // The lock of the dead replica ends after four seconds, which is within the grace period.
    expect((await browser.ask(other(), '/')).text).toContain('Hello, igor');
    expireAccessTokens();
    expect((await browser.ask(one(), '/')).text).toContain('Hello, igor');
  });

  it('a sign-out ends the session on all replicas and at the service, also for requests that refresh', async () => {
    const browser = new Browser();
    await signIn(browser, 'dora');
    const { cookie } = browser;
    expireAccessTokens();
    await Promise.all([browser.ask(one(), '/session/end', {}), ...[1, 2, 3, 4].map(() => browser.ask(other(), '/'))]);
    const thief = Object.assign(new Browser(), { cookie });
    expect(await thief.ask(other(), '/')).toMatchObject({ status: 307, location: '/sign-in' });
    expect(await thief.ask(one(), '/')).toMatchObject({ status: 307, location: '/sign-in' });
  });

  it.each(['/session', '/session/code', '/session/end'])('%s refuses a form of another site', async (path) => {
    const browser = new Browser();
    await signIn(browser, `fred${path.replaceAll('/', '-')}`);
    const form = { username: 'ann', password, captcha_token: captchaToken };
    for (const from of ['http://evil.test', 'null', `${origin}.evil.test`, ''])
      expect(await browser.ask(one(), path, form, from)).toMatchObject({ status: 403, set: undefined });
    expect((await browser.ask(one(), '/')).text).toContain('Hello, fred');
  });

  it('a cookie that this server has not sealed is nobody, and so is one that was changed', async () => {
    const browser = new Browser();
    await signIn(browser, 'gina');
    const sealed = browser.cookie.split('=')[1]!;
    const bytes = Buffer.from(sealed, 'base64url');
    bytes[20]! ^= 1;
    for (const value of [
      '',
      'x',
      bytes.toString('base64url'),
      sealed.slice(0, -4),
      randomBytes(80).toString('base64url'),
    ]) {
      const visitor = Object.assign(new Browser(), { cookie: `session=${value}` });
      expect(await visitor.ask(one(), '/')).toMatchObject({ status: 307, location: '/sign-in' });
    }
  });

  it('in a browser: solves the captcha, and neither the page nor its script sees a token', async () => {
    const port = await freePort();
    const site = await start({ SITE_URL: `http://127.0.0.1:${port}` }, port);
    const chromium = await Chromium.start();
    try {
      await service.givenUser('jana');
      const page = await chromium.newPage();
      const answers: string[] = [];
      page.on(
        'response',
        (answer) =>
          void answer.text().then(
            (text) => answers.push(text),
            () => undefined,
          ),
      );
      await page.goto(site.url);
      await page.getByLabel('User name').fill('jana');
      await page.getByLabel('Password').fill(password);
      // The widget adds the field when it has solved the challenge.
      await page.waitForFunction(`document.querySelector('input[name=captcha_token]')?.value`);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const code = page.getByLabel('Code');
      await code.waitFor();
      await code.fill(/\b\d{6}\b/.exec((await newMails(service)).at(-1)?.text ?? '')![0]);
      await page.getByRole('button', { name: 'Confirm' }).click();
      await page.getByRole('heading', { name: 'Hello, jana' }).waitFor();
      const kept = await page.evaluate<string>(`JSON.stringify([localStorage, sessionStorage, document.cookie])`);
      expect(kept + answers.join('\n')).not.toMatch(/eyJ[\w-]+\.eyJ/);
      expect(kept).not.toContain('session');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    } finally {
      await Promise.all([chromium.stop(), site.stop()]);
    }
  });

  it('a copy of the store holds no token and no id', async () => {
    const browser = new Browser();
    await signIn(browser, 'hans');
    const keys = await store.keys('*');
    const dump = [...keys, ...(await store.mget(keys))].join('\n');
    expect(keys.length).toBeGreaterThan(0);
    // Also within what is only encoded. Each of these is too long to be a part of random text by chance.
    const decoded = dump.match(/[\w-]{40,}/g)?.map((text) => Buffer.from(text, 'base64url').toString('latin1')) ?? [];
    expect(decoded.length).toBeGreaterThan(0);
    for (const text of [dump, ...decoded]) {
      expect(text).not.toMatch(/eyJ[\w-]{8,}\.eyJ|"(kind|uid|access|refresh|mfaToken)"/);
    }
    expect(dump).not.toContain(browser.cookie.split('=')[1]);
    // What the store has under a key opens nothing as a cookie.
    const visitors = (await store.mget(keys)).map((value) =>
      Object.assign(new Browser(), { cookie: `session=${value}` }),
    );
    for (const visitor of visitors) expect(await visitor.ask(one(), '/')).toMatchObject({ status: 307 });
  });
});
