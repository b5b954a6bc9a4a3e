import { AdminClient, adminSettings } from '../support/admin-client';
import { TestService } from '../support/app';
import { dataUrl, pngOf, svgOf } from '../support/images';
import { newMails } from '../support/reset';

describe('the brand of a tenant in its mails', () => {
  let service: TestService;
  let root: AdminClient;
  beforeAll(async () => {
    service = await TestService.start({ ...adminSettings, BRAND_NAME: 'Env Corp', BRAND_COLOR: '#2457c5' });
    root = await AdminClient.of(service, 'root-admin');
    for (const id of ['acme', 'other']) await root.send('POST', 'tenants', { id, name: id });
  });
  afterAll(() => service.stop());

  let users = 0;
  /** What somebody of the tenant gets who has forgotten the password. @param before is done after the mail was queued */
  const mailOf = async (tenantId: string, before: () => Promise<unknown> = () => Promise.resolve()) => {
    const name = `user-${users++}`;
    await service.givenUser(name, { tenantId });
    await newMails(service);
    expect((await service.post('/forget-password', { email: `${name}@example.com` })).status).toBe(200);
    await before();
    const [mail] = await newMails(service);
    return { html: mail!.html!, text: mail!.text!, attachments: mail!.attachments };
  };

  it('a mail has the name, the colour and the logo of the tenant, and that of another tenant those of the environment', async () => {
    const logo = pngOf(64);
    await root.send('PUT', 'brand/acme', { name: 'Acme', color: '#a01030', logo_light: dataUrl('png', logo) });
    const mail = await mailOf('acme');
    expect(mail.html).toContain('#a01030');
    expect(mail.html).not.toContain('#2457c5');
    expect(mail.html).toContain('src="cid:logo@portal"');
    expect(mail.text).toContain('\nAcme\n');
    expect(mail.attachments).toHaveLength(1);
    expect(Buffer.from(mail.attachments[0]!.content as ArrayBuffer).equals(logo)).toBe(true);
    const other = await mailOf('other');
    expect([other.html, other.text].join()).not.toMatch(/Acme|#a01030/);
    expect(other.html).toContain('#2457c5');
    expect(other.text).toContain('\nEnv Corp\n');
  });

  it.each([
    ['an SVG', dataUrl('svg+xml', svgOf('<path d="M0 0h4v4z"/>'))],
    ['a PNG of more than 100 KiB', dataUrl('png', pngOf(64, Buffer.alloc(101 * 1024)))],
  ])('a mail shows the name instead of %s', async (_what, logo_light) => {
    expect((await root.send('PUT', 'brand/acme', { name: 'Acme', logo_light })).status).toBe(200);
    const mail = await mailOf('acme');
    expect(mail.html).toMatch(/>Acme<\/p>/);
    expect(mail.attachments).toEqual([]);
  });

  it('a mail has the brand of the moment when it is sent', async () => {
    const mail = await mailOf('acme', () => root.send('PUT', 'brand/acme', { name: 'Acme 2', logo_light: null }));
    expect(mail.text).toContain('\nAcme 2\n');
  });

  it('a name cannot put a header, a link or markup into a mail', async () => {
    const refused = await root.send('PUT', 'brand/acme', { name: 'Acme\r\nBcc: x@evil.example' });
    expect(refused.body.error_code).toBe('COMMON_400001');
    await root.send('PUT', 'brand/acme', { name: '<a href="https://evil.example">Acme</a>' });
    expect((await mailOf('acme')).html).not.toContain('<a href="https://evil.example"');
  });
});
