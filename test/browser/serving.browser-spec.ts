import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { DemoModule } from '../../src/demo/demo.module';
import { loadConfig } from '../../src/settings/app-config';
import { TestService } from '../support/app';
import { becomes } from '../support/browser/becomes';
import { on, PortalSite } from '../support/browser/portal-site';
import { testSettings } from '../support/settings';

const dist = join(__dirname, '../../portal/dist');
const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

describe('the pages, served by the service', () => {
  let site: PortalSite;
  let script: string;
  let style: string;

  beforeAll(async () => {
    site = await PortalSite.start();
    const page = readFileSync(join(dist, 'index.html'), 'utf8');
    script = /\/assets\/first-[\w-]+\.js/.exec(page)![0];
    style = /\/assets\/[\w-]+\.css/.exec(page)![0];
  });
  afterAll(() => site.stop());

  it.each([
    '/',
    '/reset-password?uid=x&lang=en',
    '/forgot-password',
    '/code',
    '/account',
    '/account/welcome',
    '/account/security',
    '/account/devices',
    '/account/activity',
    '/account/authenticator',
    '/continue',
    '/device?user_code=BDFG-HJKL',
    '/outbox',
    '/admin',
  ])('%s is a page whose Content-Security-Policy allows no foreign and no inline files', async (path) => {
    const answer = await site.service.get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it('files with a content hash in their name may be cached forever and have the right media type', async () => {
    const keptForGood = { 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' };
    for (const [file, mediaType] of [
      [script, /^(application|text)\/javascript/],
      [style, /^text\/css/],
    ] as const) {
      const { headers } = await site.service.get(file);
      expect(headers).toMatchObject(keptForGood);
      expect(headers['content-type']).toMatch(mediaType);
    }
    // The compressed file is sent in place of the file, and has no path of its own.
    expect((await site.service.get(`${script}.br`)).status).toBe(404);
    const missing = await site.service.get('/assets/missing.js');
    expect(missing).toMatchObject({ status: 404, headers: { 'cache-control': 'no-store' } });
    expect((await site.service.get('/favicon.svg')).headers['content-type']).toMatch(/^image\/svg\+xml/);
  });

  describe('during a roll-out, when a replica of another version is asked for a file of the page', () => {
    /** Answers the first requests for the file as a replica that does not have it. */
    const withMissing = async (file: string, times: number): Promise<{ page: Page; asked: () => number }> => {
      const page = await site.visitor();
      let asked = 0;
      await page.route(`**${file}`, (route) => (asked++ < times ? route.fulfill({ status: 404 }) : route.continue()));
      return { page, asked: () => asked };
    };

    it('the page is loaded again until its script is there', async () => {
      const { page, asked } = await withMissing(script, 2);
      await page.goto('/');
      await becomes(() => Promise.resolve(asked()), 3);
      await on(page).heading('Sign in').waitFor();
      site.takeComplaints();
    });

    it('its style is asked for again, and what was typed stays', async () => {
      const { page, asked } = await withMissing(style, 2);
      await page.goto('/');
      await on(page).field('User name').fill('somebody');
      await becomes(() => Promise.resolve(asked()), 3);
      await becomes(() => page.evaluate<string>('getComputedStyle(document.querySelector("form")).display'), 'flex');
      expect(await on(page).field('User name').inputValue()).toBe('somebody');
      site.takeComplaints();
    });

    it('it gives up after 15 seconds, and says so', async () => {
      const { page } = await withMissing(script, Infinity);
      await page.addInitScript(`sessionStorage['portal.missing-since'] = Date.now() - 20_000`);
      await page.goto('/');
      await page.getByText('This page could not be loaded. Try again later.').waitFor();
      site.takeComplaints();
    });
  });

  it('the file that loads the page again keeps its content under its name, because browsers keep it for a year', () => {
    const file = readFileSync(join(dist, 'assets/reload-1.js'));
    expect(createHash('sha256').update(file).digest('hex')).toBe(
      'ed695247d14cee272a8ec27d781d5dea7a53f35c502cb131f79bd5faff6d1fd3',
    );
  });

  it('the paths of the API answer as they do without the pages', async () => {
    expect(await site.service.get('/login')).toMatchObject({ status: 405, body: { error_code: 'COMMON_405001' } });
    expect(await site.service.get('/user/me')).toMatchObject({ status: 401 });
    expect(await site.service.get('/nothing')).toMatchObject({ status: 404, body: { error_code: 'COMMON_404001' } });
    expect(await site.service.post('/', {})).toMatchObject({ status: 405 });
  });

  it('a mistyped path is a page for a person, and JSON for other clients', async () => {
    const html = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
    for (const path of ['/acount', '/a/b/c', '/reset-pasword?uid=x']) {
      const page = await site.service.get(path, { headers: html });
      expect(page).toMatchObject({
        status: 404,
        headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
      });
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
      for (const accept of ['application/json', '*/*']) {
        const answer = await site.service.get(path, { headers: { accept } });
        expect(answer).toMatchObject({ status: 404, body: { error_code: 'COMMON_404001' } });
      }
    }
    expect(await site.service.post('/acount', {}, { headers: html })).toMatchObject({
      status: 404,
      body: { error_code: 'COMMON_404001' },
    });
    const page = await site.visitor();
    await page.goto('/acount');
    await on(page).heading('Page not found').waitFor();
    await on(page).link('Back to the start page').click();
    await on(page).heading('Sign in').waitFor();
    expect(site.takeComplaints()).toEqual([]);
  });

  it.each([
    '/assets/',
    '/assets/../index.html',
    '/assets/%2e%2e/index.html',
    '/assets/..%2f..%2f..%2fpackage.json',
    '/.env',
  ])('%s answers 404', async (path) => expect((await site.service.get(path)).status).toBe(404));
});

describe('outside the demo', () => {
  it('the service has neither pages nor an outbox', async () => {
    const service = await TestService.start();
    try {
      for (const path of ['/', '/outbox', '/demo/outbox']) expect((await service.get(path)).status).toBe(404);
    } finally {
      await service.stop();
    }
  });

  it('the demo refuses to start in production', async () => {
    const config = loadConfig({
      ...testSettings,
      NODE_ENV: 'production',
      BCRYPT_COST: '10',
      CAPTCHA_TEST_TOKEN: '',
      DATABASE_URL: 'sqlite::memory:',
      SYSTEM_URL: 'https://portal.example.com',
    });
    const starting = TestService.start({}, { module: () => DemoModule.with(config) });
    await expect(starting).rejects.toThrow('not for production');
  });
});

describe('the pages on another origin', () => {
  let site: PortalSite;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = new URL(request.url ?? '/', 'http://x').pathname;
      const file = path.startsWith('/assets/') || path === '/favicon.svg' ? path : '/index.html';
      const content = readFileSync(join(dist, file), 'utf8');
      // This is the only change that a deployment needs.
      const told = content.replace('name="portal:service" content=""', `name="portal:service" content="${site.url}"`);
      response.setHeader('content-type', mediaTypes[extname(file)]!).end(told);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    site = await PortalSite.start({ CORS_ORIGINS: url, SYSTEM_URL: url });
  });
  afterAll(async () => {
    await site.stop();
    server.close();
    server.closeAllConnections();
  });

  it('work across origins: log in, see the session, enrol, log out; they show no outbox', async () => {
    await site.service.givenUser('alice');
    const page = await site.visitor({ baseURL: url });
    await page.goto('/');
    await on(page).heading('Sign in').waitFor();
    expect(await on(page).link('Demo inbox').count()).toBe(0);
    await on(page).logIn('alice');
    await on(page).heading('Hello, alice').waitFor();
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    await page.getByAltText('QR code for the authenticator app').waitFor();
    await page.goto('/outbox');
    await page.getByText('There is no demo inbox here').waitFor();
    await page.goto('/account');
    await on(page).signOut();
    await on(page).heading('Sign in').waitFor();
    expect(site.takeComplaints().filter((one) => !one.includes(url))).toEqual([]);
  });
});
