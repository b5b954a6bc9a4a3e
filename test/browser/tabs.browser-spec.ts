import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { listen, shut, urlOf } from '../support/loopback';
import { Chromium } from '../support/servers/chromium';
import { eventually } from '../support/servers/eventually';

const sdk = resolve(__dirname, '../../sdk/typescript/dist');

/** The session part of a service with rotation and a grace of 0: a refresh token that is sent twice ends the session. */
class StrictService {
  private pair = 0;
  private expired = 0;
  private open = true;
  refreshes = 0;
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      void this.answer(request).then(({ status, type = 'application/json', body }) =>
        response.writeHead(status, { 'content-type': type }).end(body),
      );
    });
  }

  async start(): Promise<string> {
    await listen(this.server);
    return urlOf(this.server);
  }

  stop(): Promise<void> {
    return shut(this.server);
  }

  /** A new session. @returns what a tab stores */
  signIn(): string {
    this.open = true;
    return JSON.stringify({ access: `access-${++this.pair}`, refresh: `refresh-${this.pair}` });
  }

  /** From now on the access token of the present pair is refused. */
  expire(): void {
    this.expired = this.pair;
  }

  private async answer(request: IncomingMessage): Promise<{ status: number; type?: string; body: string | Buffer }> {
    const path = request.url ?? '/';
    if (path === '/') return { status: 200, type: 'text/html', body: '<!doctype html><title>tab</title>' };
    if (path.endsWith('.js'))
      return { status: 200, type: 'text/javascript', body: await readFile(join(sdk, path.slice('/sdk/'.length))) };
    const bearer = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (path === '/refresh') {
      this.refreshes++;
      if (!this.open || bearer !== `refresh-${this.pair}`) {
        this.open = false;
        return refused('AUTH_401006');
      }
      const pair = ++this.pair;
      return accepted({ access_token: `access-${pair}`, refresh_token: `refresh-${pair}` });
    }
    if (path === '/logout') {
      this.open = false;
      return accepted({ result: true });
    }
    const valid = this.open && this.pair > this.expired && bearer === `access-${this.pair}`;
    return valid ? accepted({ uid: 'u-1', login_name: 'alice' }) : refused('AUTH_401002');
  }
}

const accepted = (data: object) => ({ status: 200, body: JSON.stringify({ status: true, data }) });
const refused = (error_code: string) => ({
  status: 401,
  body: JSON.stringify({ status: false, error_code, msg: 'no' }),
});

/** Chromium gives a lock to the next tab before that tab sees what the former holder wrote to `localStorage`. */
describe('three tabs of one browser, with rotation and a grace of 0', () => {
  let service: StrictService;
  let chromium: Chromium;
  let tabs: Page[];

  beforeAll(async () => {
    service = new StrictService();
    const url = await service.start();
    chromium = await Chromium.start();
    const visitor = await chromium.newVisitor();
    // Each of them has a process of its own, as the tabs of a user have.
    tabs = await Promise.all([1, 2, 3].map(() => visitor.newPage()));
    await Promise.all(tabs.map((tab) => tab.goto(url)));
  });
  afterAll(async () => {
    // Some of them are missing when the browser does not start.
    await chromium?.stop();
    await service?.stop();
  });

  /** Signs in, and loads the page of each tab again. `patience` makes the bounds longer than any busy machine needs. */
  const signIn = async (patience: number): Promise<void> => {
    const pair = JSON.stringify(service.signIn());
    await tabs[0]!.evaluate(`localStorage.setItem('portal-auth.session', ${pair})`);
    for (const tab of tabs) {
      await tab.waitForFunction(`localStorage.getItem('portal-auth.session') === ${pair}`);
      await tab.evaluate(`import('/sdk/index.js').then(({ PortalAuth, systemClock }) => {
        const after = (ms, ...call) => systemClock.after(ms * ${patience}, ...call);
        globalThis.auth?.dispose();
        globalThis.auth = new PortalAuth({ baseUrl: '', clock: { now: systemClock.now, after } });
      })`);
    }
  };
  /** What a call of a tab comes to: the name of the user, or the error. */
  const ask = (tab: Page): Promise<string> =>
    tab.evaluate<string>(`auth.me().then(({ login_name }) => login_name, (error) => String(error.code ?? error.rule))`);

  it('send one refresh in each of 500 rounds, and stay signed in', async () => {
    await signIn(30);
    const wrong: string[] = [];
    for (let round = 1; round <= 500 && wrong.length === 0; round++) {
      service.expire();
      const before = service.refreshes;
      const names = (await Promise.all(tabs.map(ask))).join();
      const sent = service.refreshes - before;
      if (sent !== 1 || names !== 'alice,alice,alice') wrong.push(`round ${round}: ${sent} refreshes, ${names}`);
    }
    expect(wrong).toEqual([]);
  });

  it('are all signed out by a sign-out in one of them while the others refresh', async () => {
    const [first, ...others] = tabs as [Page, ...Page[]];
    for (let round = 1; round <= 30; round++) {
      await signIn(1);
      service.expire();
      await Promise.all([first.evaluate('auth.logout()'), ...others.map(ask)]);
      const answers = async (): Promise<string> => (await Promise.all(tabs.map(ask))).join();
      await eventually(async () => (await answers()) === 'signed-out,signed-out,signed-out', { what: 'the sign-out' });
    }
  });
});
