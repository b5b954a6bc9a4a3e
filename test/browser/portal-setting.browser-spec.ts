import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestService } from '../support/app';
import { rawRequest, request } from '../support/raw-http';

const html = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };

describe('PORTAL=on', () => {
  let service: TestService;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'brand-'));
    writeFileSync(join(folder, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    service = await TestService.start({
      PORTAL: 'on',
      API_PREFIX: '/api/v1',
      BRAND_DIR: folder,
      BRAND_LOGO_URL: '/brand/logo.svg',
    });
    await service.app.listen(0, '127.0.0.1');
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  it('serves the pages with the prefix of the service and without an outbox', async () => {
    const { status, headers, raw } = await service.get('/', html);
    const body = raw.toString();
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    expect(body).toContain('<meta name="portal:service" content="/api/v1" />');
    expect(body).toContain('<meta name="portal:outbox" content="" />');
  });

  it('a mistyped address gets the page "not found" if HTML is requested; other requests, and those of the API, get JSON', async () => {
    const page = await service.get('/acount', html);
    expect(page).toMatchObject({ status: 404, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    for (const [path, accept] of [
      ['/acount', '*/*'],
      ['/acount', 'application/json'],
      ['/api/v1/nothing', html.headers.accept],
    ]) {
      expect(await service.get(path!, { headers: { accept: accept! } })).toMatchObject({
        status: 404,
        body: { error_code: 'COMMON_404001' },
      });
    }
    expect(await service.post('/acount', {}, html)).toMatchObject({
      status: 404,
      body: { error_code: 'COMMON_404001' },
    });
  });

  it.each([
    ['/account/', '/account'],
    ['/account/security/', '/account/security'],
    ['/reset-password/?uid=a%2Fb&lang=en', '/reset-password?uid=a%2Fb&lang=en'],
    ['/admin/?next=//evil.example', '/admin?next=//evil.example'],
    // An ingress that removes a path from the request does not know that the answer has one.
    ['/portal/account/', '/portal/account', '/account/'],
  ])('%s, a page with a slash at its end, leads to %s on the same host', async (asked, leadsTo, received = asked) => {
    const { status, headers } = await service.get(received, html);
    expect({ status, leadsTo: new URL(headers.location!, `https://portal.test${asked}`).href }).toEqual({
      status: 302,
      leadsTo: `https://portal.test${leadsTo}`,
    });
    expect(await service.get(received)).toMatchObject({ status: 404, body: { error_code: 'COMMON_404001' } });
  });

  it.each([
    '//account/',
    '//evil.example/account/',
    '/account//',
    '//',
    '/%2Faccount/',
    '/account%2F',
    '/evil.example/',
    '/\\evil.example/account/',
    '\\account/',
    '/account/../',
    '/../account/',
    'http://evil.example/account/',
    '/api/v1/account/',
  ])('%s leads nowhere', async (path) => {
    const { port } = service.app.getHttpServer().address() as AddressInfo;
    // A client would change such a path before it asks.
    const answer = await rawRequest(port, request('GET', path, ['Accept: text/html', 'Connection: close']));
    expect(answer!.status).toBeGreaterThanOrEqual(400);
    expect(answer!.headers).not.toHaveProperty('location');
  });

  it('sends scripts and styles compressed to clients that accept it, and allows caches to keep them forever', async () => {
    const { raw: page } = await service.get('/', html);
    for (const file of page.toString().match(/\/assets\/[\w-]+\.(js|css)/g)!) {
      const plain = await service.get(file);
      const small = await service.get(file, { headers: { 'accept-encoding': 'gzip, br' } });
      const kept = { 'cache-control': 'public, max-age=31536000, immutable' };
      expect(plain.headers).toMatchObject(kept);
      expect(small.headers).toMatchObject({
        ...kept,
        'content-encoding': 'br',
        vary: expect.stringMatching(/accept-encoding/i),
      });
      expect(Number(small.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) * 0.6);
    }
  });

  it('an image of BRAND_DIR cannot run a script, and no file outside the folder is served', async () => {
    const logo = await service.get('/brand/logo.svg');
    expect(logo.status).toBe(200);
    expect(logo.headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    for (const path of [
      '/brand/',
      '/brand/../package.json',
      '/brand/%2e%2e/package.json',
      '/brand/..%2fx',
      '/brand/x.svg',
    ]) {
      expect((await service.get(path)).status).toBe(404);
    }
  });
});
