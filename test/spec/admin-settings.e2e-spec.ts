import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';

interface Row {
  readonly key: string;
  readonly source: string;
  readonly value: string | null;
  readonly secret: boolean;
  readonly set: boolean;
  readonly editable: boolean;
  readonly documented: string;
}

describe('GET /admin/settings', () => {
  let service: TestService;
  let root: AdminClient;
  beforeAll(async () => {
    service = await TestService.start({ ...adminSettings, MAX_LOCK_COUNT: '4', MAIL_FROM: 'no-reply@portal.test' });
    root = await AdminClient.of(service, 'root-admin');
  });
  afterAll(() => service.stop());

  const rows = async () => {
    const { items } = (await root.get('settings')).body.data as { items: Row[] };
    return new Map(items.map((row) => [row.key, row]));
  };

  it('shows each variable and each stored setting with its source, and no secret', async () => {
    await root.send('PUT', 'config/SMTP/HOST', { value: 'mail.example.com' });
    await root.send('PUT', 'config/SMTP/SECRET', { value: 'the mail password 7' });
    const shown = await rows();
    expect(shown.get('MAX_LOCK_COUNT')).toEqual({
      ...{ key: 'MAX_LOCK_COUNT', source: 'environment', value: '4', secret: false, set: true, editable: false },
      documented: 'docs/settings.md#login-and-passwords',
    });
    expect(shown.get('MAIL_FROM')).toMatchObject({ source: 'environment', value: 'no-reply@portal.test' });
    expect(shown.get('OTP_TTL_SECONDS')).toMatchObject({ source: 'default', set: false, editable: false });
    expect(shown.get('DATA_ENCRYPTION_KEY')).toMatchObject({
      source: 'environment',
      value: null,
      secret: true,
      set: true,
    });
    expect(shown.get('DATABASE_URL')).toMatchObject({ value: null, secret: true, set: true });
    expect(shown.get('SMTP HOST')).toMatchObject({
      source: 'system_configs',
      value: 'mail.example.com',
      editable: true,
    });
    expect(shown.get('SMTP SECRET')).toMatchObject({ source: 'system_configs', value: null, secret: true, set: true });
    expect(shown.get('SMTP PORT')).toMatchObject({ source: 'default', value: null, set: false });
  });

  it('is for administrators of the root tenant', async () => {
    await root.send('POST', 'tenants', { id: 'acme', name: 'Acme' });
    const other = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    expect(outcomeOf(await other.get('settings'))).toBe('AUTH_403001');
  });
});
