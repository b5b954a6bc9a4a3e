import { Brands } from '../../src/brand/brands.repository';
import { tokenOf } from '../support/admin';
import { AdminClient, adminSettings } from '../support/admin-client';
import { TestService } from '../support/app';
import { dataUrl, pngOf, svgOf } from '../support/images';

const svg = (content: string, attributes = '') => dataUrl('svg+xml', svgOf(content, attributes));

const logo = svg('<defs><path id="a" d="M0 0h4v4z"/></defs><use href="#a" fill="#123456"/>');

/** Each use draws ten of the one before: 10^9 shapes. */
const bomb = [...Array(9).keys()]
  .map((level) => `<g id="g${level + 1}">${`<use href="#g${level}"/>`.repeat(10)}</g>`)
  .join('');

describe('the brand of a tenant', () => {
  let service: TestService;
  let root: AdminClient;
  let acme: AdminClient;

  beforeAll(async () => {
    service = await TestService.start({ ...adminSettings, BRAND_NAME: 'Env Corp', BRAND_COLOR: '#2457c5' });
    root = await AdminClient.of(service, 'root-admin');
    await root.send('POST', 'tenants', { id: 'acme', name: 'Acme' });
    await root.send('POST', 'tenants', { id: 'other', name: 'Other' });
    acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
  });
  afterAll(() => service.stop());

  const shown = async (query = '') => (await service.get(`/capabilities${query}`)).body.data.brand;

  it('shows the field of the tenant, then of the default, then of the environment, and null removes it', async () => {
    expect(
      (await acme.send('PUT', 'brand/acme', { name: 'Acme', tagline: 'Fast', color: '#A01030' })).body.data,
    ).toEqual({
      ...{ name: 'Acme', color: '#a01030', tagline: 'Fast', logo_light: null, logo_dark: null, favicon: null },
      ...{ support_url: null, privacy_url: null, imprint_url: null },
      inherited: expect.objectContaining({ name: 'Env Corp', color: '#2457c5' }),
    });
    const links = { support_url: 'mailto:help@example.com' };
    expect((await root.send('PUT', 'brand', { name: 'Default', ...links })).status).toBe(200);
    expect(await shown('?tenant=acme')).toMatchObject({ name: 'Acme', color: '#a01030', tagline: 'Fast', ...links });
    expect(await shown('?tenant=other')).toMatchObject({ name: 'Default', color: '#2457c5', tagline: null });
    expect((await acme.send('PUT', 'brand/acme', { name: null })).body.data).toMatchObject({
      ...{ name: null, tagline: 'Fast' },
      inherited: expect.objectContaining({ name: 'Default' }),
    });
    expect(await shown('?tenant=acme')).toMatchObject({ name: 'Default', tagline: 'Fast' });
    await root.send('PUT', 'brand', { name: null, support_url: null });
    expect(await shown()).toMatchObject({ name: 'Env Corp' });
  });

  it.each(['?tenant=nobody', '?tenant=%2A', '?tenant=', `?tenant=${'x'.repeat(300)}`, '?tenant=a&tenant=b'])(
    'answers for an unknown tenant as without one: %s',
    async (query) => {
      expect(await shown(query)).toEqual(await shown());
    },
  );

  it('audits who changed which fields', async () => {
    await acme.send('PUT', 'brand/acme', { tagline: 'Faster', name: 'Acme' });
    const [row] = await service.database.rows<object>(
      'SELECT event, actor_id, detail FROM audit_logs ORDER BY id DESC LIMIT 1',
    );
    expect(row).toEqual({
      ...{ event: 'BRAND_CHANGED', actor_id: acme.uid },
      detail: '{"tenant":"acme","fields":"name, tagline"}',
    });
  });

  it('T640: an administrator of a tenant changes neither the default nor the brand of another tenant', async () => {
    for (const method of ['GET', 'PUT'] as const) {
      const body = method === 'PUT' ? { name: 'Mine' } : undefined;
      expect(await acme.send(method as 'PUT', 'brand', body)).toMatchObject({ status: 403 });
      for (const id of ['other', 'root', '*', 'nobody']) {
        expect((await acme.send(method as 'PUT', `brand/${encodeURIComponent(id)}`, body)).body.error_code).toBe(
          'USER_404001',
        );
      }
    }
    expect((await root.send('PUT', 'brand/*', { name: 'Mine' })).body.error_code).toBe('USER_404001');
  });

  it('serves an image under the hash of its content, for ever, and never as a page of this origin', async () => {
    await acme.send('PUT', 'brand/acme', { logo_light: logo, favicon: dataUrl('png', pngOf()) });
    const { logo_url: path, logo_dark_url: dark, favicon_url: icon } = await shown('?tenant=acme');
    expect(path).toMatch(/^\/brand\/[0-9a-f]{40}\.svg$/);
    expect(dark).toBeNull();
    const answer = await service.app.inject({ method: 'GET', url: path });
    expect(answer.headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    expect(dataUrl('svg+xml', answer.rawPayload)).toBe(logo);
    const again = { method: 'GET', url: path, headers: { 'if-none-match': String(answer.headers.etag) } } as const;
    expect((await service.app.inject(again)).statusCode).toBe(304);
    expect((await service.app.inject({ method: 'GET', url: icon })).headers['content-type']).toBe('image/png');
    for (const url of ['/brand/nothing.svg', `/brand/${'0'.repeat(40)}.svg`, '/brand/..%2fpackage.json']) {
      expect((await service.app.inject({ method: 'GET', url })).statusCode).toBe(404);
    }
    const { body } = await acme.send('PUT', 'brand/acme', { logo_light: path, name: 'Acme' });
    expect(body.data.logo_light).toBe(path);
    expect((await acme.send('PUT', 'brand/acme', { logo_light: null })).body.data.logo_light).toBeNull();
    expect(await service.count('brand_images', "tenant_id = 'acme' AND field = 'logoLight'")).toBe(0);
  });

  it('takes an image of 256 KiB and refuses a larger one', async () => {
    const empty = pngOf().length;
    const largest = pngOf(1, Buffer.alloc(256 * 1024 - empty));
    const answer = await acme.send('PUT', 'brand/acme', { logo_dark: dataUrl('png', largest) });
    expect(answer.status).toBe(200);
    const image = await service.app.inject({ method: 'GET', url: answer.body.data.logo_dark });
    expect(image.rawPayload.equals(largest)).toBe(true);
    const larger = dataUrl('png', pngOf(1, Buffer.alloc(256 * 1024 - empty + 1)));
    expect((await acme.send('PUT', 'brand/acme', { logo_dark: larger })).body.data.fields).toEqual({
      logo_dark: ['logo_dark must have at most 256 KiB'],
    });
    await acme.send('PUT', 'brand/acme', { logo_dark: null });
  });

  it.each([
    ['T641: a script', svg('<script>alert(1)</script>')],
    [
      'T641: a script of another name space',
      svg('<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>'),
    ],
    ['T641: a handler', svg('<path d="M0 0"/>', 'onload="alert(1)"')],
    ['T641: a handler of an animation', svg('<animate onbegin="alert(1)" attributeName="x"/>')],
    ['T641: a link that runs', svg('<a href="javascript:alert(1)"><path d="M0 0"/></a>')],
    ['T642: HTML inside', svg('<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>')],
    ['T643: an image of another server', svg('<image href="https://evil.example/x.png"/>')],
    ['T643: a use of another server', svg('<use xlink:href="https://evil.example/x.svg#a"/>')],
    [
      'T643: a style sheet',
      `data:image/svg+xml;base64,${Buffer.from(`<?xml-stylesheet href="https://evil.example/x.css"?>${svgOf('')}`).toString('base64')}`,
    ],
    ['T644: url() in an attribute', svg('<path d="M0 0" fill="url(https://evil.example/x)"/>')],
    ['T644: url() in a style', svg('<style>path{fill:url("//evil.example/x")}</style>')],
    ['T644: an import', svg('<style>@import "https://evil.example/x.css";</style>')],
    ['T644: an escaped url()', svg('<style>path{fill:u\\72l(https://evil.example/x)}</style>')],
    ['T644: image-set()', svg('<path style="mask:image-set(\'https://evil.example/x\' 1x)"/>')],
    [
      'T645: entities',
      dataUrl('svg+xml', `<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${svgOf('<text>&b;</text>')}`),
    ],
    [
      'T645: an external entity',
      dataUrl('svg+xml', `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>${svgOf('<text>&a;</text>')}`),
    ],
    ['T645: a billion shapes by reference', svg(`<path id="g0" d="M0 0"/>${bomb}<use href="#g9"/>`)],
    ['T645: a reference to itself', svg('<g id="a"><use href="#a"/></g>')],
    ['T645: 60,000 levels', svg(`${'<g>'.repeat(20_000)}${'</g>'.repeat(20_000)}`)],
    [
      'T646: a PNG with a page behind it',
      dataUrl('png', Buffer.concat([pngOf(), Buffer.from('<script>alert(1)</script>')])),
    ],
    ['T646: a damaged PNG', dataUrl('png', pngOf().fill(9, 20, 22))],
    ['T647: HTML as PNG', dataUrl('png', '<html><script>alert(1)</script></html>')],
    ['T647: a GIF as WebP', dataUrl('webp', 'GIF89a..........................')],
    ['T647: SVG as HTML', `data:text/html;base64,${Buffer.from(svgOf('')).toString('base64')}`],
    ['T647: a page as SVG', dataUrl('svg+xml', '<html xmlns="http://www.w3.org/1999/xhtml"/>')],
    ['T647: UTF-7', dataUrl('svg+xml', `<?xml version="1.0" encoding="UTF-7"?>${svgOf('')}`)],
    ['T648: a PNG that fills the memory of a browser', dataUrl('png', pngOf(60_000))],
    ['no base64', 'data:image/png;base64,%%%'],
    ['the path of an image of somebody else', `/brand/${'0'.repeat(40)}.png`],
    ['an address', 'https://evil.example/logo.png'],
  ])('refuses %s as an image, and stores nothing', async (_what, logo_light) => {
    const answer = await acme.send('PUT', 'brand/acme', { name: 'Changed', logo_light });
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'COMMON_400001' } });
    expect(answer.body.data.fields.logo_light[0]).toMatch(/^logo_light (must|is) /);
    expect((await acme.get('brand/acme')).body.data).toMatchObject({ name: 'Acme', logo_light: null });
  });

  it.each([
    [
      'gradient and clip path',
      '<defs><linearGradient id="g"><stop offset="0" stop-color="rgb(1,2,3)"/></linearGradient><clipPath id="c"><use xlink:href="#p"/></clipPath></defs><path id="p" d="M0 0"/><path d="M0 0" fill="url(#g)" clip-path="url(\'#c\')" transform="translate(1 1)"/>',
    ],
    [
      'classes of an editor',
      '<style>.a{fill:#123;stroke:url(#g)}</style><title>Acme</title><path class="a" d="M0 0"/>',
    ],
  ])('takes an SVG with %s', async (_what, content) => {
    expect((await acme.send('PUT', 'brand/acme', { logo_light: svg(content) })).status).toBe(200);
    await acme.send('PUT', 'brand/acme', { logo_light: null });
  });

  it.each([
    [{ color: '#ffff00' }, 'color', /contrast of 1\.07:1/],
    [{ color: 'red' }, 'color', /must look like/],
    [{ name: 'a\u202eb' }, 'name', /1 to 64 characters/],
    [{ name: '' }, 'name', /1 to 64 characters/],
    [{ tagline: 'x'.repeat(161) }, 'tagline', /1 to 160 characters/],
    [{ support_url: 'javascript:alert(1)' }, 'support_url', /https:\/\/ or mailto:/],
    [{ privacy_url: 'mailto:a@example.com' }, 'privacy_url', /https:\/\//],
    [{ imprint_url: 'http://example.com' }, 'imprint_url', /https:\/\//],
    [{ name: 7 }, 'name', /string/],
  ])('refuses %j in words', async (body, field, words) => {
    const answer = await acme.send('PUT', 'brand/acme', body);
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'COMMON_400001' } });
    expect(answer.body.data.fields[field][0]).toMatch(words);
  });

  it('T649: a link shows the brand of a tenant and nothing that the link contains', async () => {
    const [of, none] = [await shown('?tenant=acme&name=Bank'), await shown('?tenant=%3Cb%3EBank')];
    expect(JSON.stringify([of, none])).not.toContain('Bank');
  });

  it('T648: a megabyte of somebody without rights is refused before it is read, and a larger body of anybody', async () => {
    const bearer = await tokenOf(service, await service.givenUser('nobody-special'));
    const body = `{"name": ${'['.repeat(1_000_000)}`;
    const headers = { 'content-type': 'application/json' };
    for (const path of ['/admin/brand', '/admin/brand/acme']) {
      expect((await service.send('PUT', path, body, { headers })).body.error_code).toBe('AUTH_401001');
      expect((await service.send('PUT', path, body, { headers, bearer })).body.error_code).toBe('AUTH_403001');
      const own = { headers, bearer: root.bearer };
      expect((await service.send('PUT', path, body, own)).body.error_code).toBe('COMMON_400001');
      const larger = JSON.stringify({ name: 'x'.repeat(1_200_000) });
      expect((await service.send('PUT', path, larger, own)).body.error_code).toBe('COMMON_413001');
      const form = { headers: { 'content-type': 'text/plain' }, bearer: root.bearer };
      expect((await service.send('PUT', path, 'x', form)).body.error_code).toBe('COMMON_415001');
      expect((await service.send('PUT', path, '{"nmae": "x"}', own)).body.data.fields).toEqual({
        nmae: ['nmae is not a known field'],
      });
    }
  });

  it('while four look-ups of images run, a further one is COMMON_503001, and a known image is still served', async () => {
    const { body } = await acme.send('PUT', 'brand/acme', { logo_light: logo });
    const known = await service.app.inject({ method: 'GET', url: body.data.logo_light });
    expect(known.statusCode).toBe(200);
    let go: () => void = () => undefined;
    const held = new Promise<undefined>((resolve) => (go = () => resolve(undefined)));
    const spy = jest.spyOn(service.app.get(Brands), 'image').mockReturnValue(held);
    const look = (n: number) => service.app.inject({ method: 'GET', url: `/brand/${String(n).repeat(40)}.png` });
    const running = [1, 2, 3, 4].map(look);
    try {
      // `inject` sends a request when somebody waits for it.
      const waiting = Promise.all(running);
      while (spy.mock.calls.length < 4) await new Promise(setImmediate);
      const refused = await look(5);
      expect(refused.json()).toMatchObject({ error_code: 'COMMON_503001' });
      expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '2']);
      expect((await service.app.inject({ method: 'GET', url: body.data.logo_light })).statusCode).toBe(200);
      go();
      expect((await waiting).map(({ statusCode }) => statusCode)).toEqual([404, 404, 404, 404]);
    } finally {
      go();
      spy.mockRestore();
    }
    expect((await look(6)).statusCode).toBe(404);
    await acme.send('PUT', 'brand/acme', { logo_light: null });
  });
});
