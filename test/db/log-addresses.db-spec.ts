import { AppModule } from '../../src/app.module';
import type { SqlValue } from '../../src/platform/database/sql';
import { AddressShortening } from '../../src/retention/address-shortening';
import { ShortenedMarks } from '../../src/retention/persistence/shortened-addresses.repository';
import { JwtSettings } from '../../src/sessions/jwt-settings';
import { LockSettings } from '../../src/users/account-settings';
import { RetentionModule } from '../../src/retention/retention.module';
import { TestService } from '../support/app';

const day = 86_400;

/** docs/spec/extensions.md#log-ip-days */
describe('the addresses that are older than LOG_IP_DAYS', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start(
      { LOG_IP_DAYS: '30', REFRESH_TOKEN_TTL_SECONDS: String(40 * day) },
      { module: (config) => ({ module: class {}, imports: [AppModule.with(config), RetentionModule] }) },
    );
  });
  afterAll(() => service.stop());
  const shortening = () => service.app.get(AddressShortening);
  const withSettings = (days: number, windowSeconds = 900) =>
    new AddressShortening(
      service.database,
      service.app.get(ShortenedMarks),
      service.clock,
      { days },
      { ...service.app.get(LockSettings), windowSeconds },
      service.app.get(JwtSettings),
    );
  beforeEach(async () => {
    for (const table of [
      'login_logs',
      'audit_logs',
      'login_tokens',
      'trusted_devices',
      'totp_secrets',
      'shortened_addresses',
    ])
      await service.database.affected(`DELETE FROM ${table}`);
  });

  const insert = (table: string, row: Record<string, SqlValue>) =>
    service.database.affected(
      `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.keys(row)
        .map(() => '?')
        .join(', ')})`,
      Object.values(row),
    );
  const ago = (days: number, seconds = 0) => service.clock.secondsFromNow(-days * day - seconds);
  let requests = 0;
  const login = (created_at: Date, ip: string) =>
    insert('login_logs', {
      ...{ user_id: 'u', login_name: 'x', provider: 'password', ip, user_agent: 'x', outcome: 'success' },
      ...{ request_id: `r${++requests}`, created_at },
    });
  const addresses = async (table = 'login_logs') =>
    (await service.database.rows<{ ip: string }>(`SELECT ip FROM ${table} ORDER BY created_at`)).map(({ ip }) => ip);

  it('lose what tells a person: IPv4 after 24 bits, IPv6 after 48, in every table that keeps them', async () => {
    await login(ago(31), '203.0.113.77');
    await login(ago(30, 1), '2001:db8:aa:bb::1');
    await login(ago(29), '198.51.100.8');
    await insert('audit_logs', { event: 'E', user_id: 'u', ip: '203.0.113.77', detail: '{}', created_at: ago(40) });
    await insert('audit_logs', { event: 'E', user_id: 'u', ip: null, detail: '{}', created_at: ago(39) });
    await insert('audit_logs', { event: 'E', user_id: 'u', ip: '203.0.113.77', detail: '{}', created_at: ago(1) });
    const token = { token_type: 'refresh', user_identity: 'u' };
    await insert('login_tokens', {
      jti: 's1',
      sid: 's1',
      ...token,
      ip: '203.0.113.77',
      created_at: ago(33),
      expires: ago(-7),
    });
    await insert('login_tokens', {
      jti: 's2',
      sid: 's2',
      ...token,
      ip: '203.0.113.78',
      created_at: ago(2),
      expires: ago(-38),
    });
    const device = { series_hash: 'x', token_hash: 'x', user_agent: 'x', expires: ago(-30), user_id: 'u' };
    await insert('trusted_devices', {
      id: 'd1',
      ...device,
      ip: '203.0.113.7',
      last_used_at: ago(31),
      created_at: ago(50),
    });
    await insert('trusted_devices', {
      id: 'd2',
      ...device,
      series_hash: 'y',
      ip: '203.0.113.7',
      last_used_at: ago(1),
      created_at: ago(49),
    });
    await insert('totp_secrets', { user_id: 'u', secret: 'x', uri: 'x', ip: '203.0.113.7', confirmed_at: ago(90) });
    expect(await shortening().shorten()).toBe(6);
    expect(await addresses()).toEqual(['203.0.113.0', '2001:db8:aa::', '198.51.100.8']);
    expect(await addresses('audit_logs')).toEqual(['203.0.113.0', null, '203.0.113.77']);
    expect((await addresses('login_tokens')).sort()).toEqual(['203.0.113.0', '203.0.113.78']);
    expect(await addresses('trusted_devices')).toEqual(['203.0.113.0', '203.0.113.7']);
    expect(await service.database.row('SELECT ip FROM totp_secrets')).toEqual({ ip: '203.0.113.0' });
    expect(await shortening().shorten()).toBe(0);
  });

  it('stay whole with LOG_IP_DAYS=0, the default', async () => {
    await login(ago(900), '203.0.113.77');
    expect(await withSettings(0).shorten()).toBeUndefined();
    expect(await addresses()).toEqual(['203.0.113.77']);
  });

  it('stay whole while the lock of an attack may last longer than that (T599)', async () => {
    await login(ago(2), '203.0.113.77');
    await login(ago(3, 1), '203.0.113.78');
    expect(await withSettings(1, 3 * day).shorten()).toBe(1);
    expect(await addresses()).toEqual(['203.0.113.0', '203.0.113.77']);
  });

  it('are shortened in batches that commit alone; an interrupted run is taken up where it has stopped', async () => {
    for (let n = 0; n < 1100; n++) await login(ago(60, -n), `203.0.${n % 200}.9`);
    const { database } = service;
    const written = database.written.bind(database);
    let batches = 0;
    const spy = jest.spyOn(database, 'written').mockImplementation((text: string, values?: readonly SqlValue[]) => {
      if (/^UPDATE login_logs/.test(text) && ++batches === 2) throw new Error('killed');
      return written(text, values);
    });
    await expect(shortening().shorten()).rejects.toThrow('killed');
    spy.mockRestore();
    expect(await service.count('login_logs', "ip LIKE '%.0'")).toBe(500);
    const read = jest.spyOn(database, 'rows');
    expect(await shortening().shorten()).toBe(600);
    const first = read.mock.calls.find(([text]) => /FROM login_logs/.test(text))!;
    // The first batch is not read again, apart from its last row.
    expect(first[1]![0]).toEqual(ago(60, -499));
    read.mockRestore();
    // And the next run reads nothing of what is done.
    await login(ago(29), '198.51.100.1');
    expect(await shortening().shorten()).toBe(0);
  });

  it('a row that purge deletes, and a device that is used meanwhile, are left to them', async () => {
    await login(ago(60), '203.0.113.77');
    const device = { series_hash: 'x', token_hash: 'x', user_agent: 'x', expires: ago(-30), user_id: 'u' };
    await insert('trusted_devices', {
      id: 'd1',
      ...device,
      ip: '203.0.113.7',
      last_used_at: ago(31),
      created_at: ago(50),
    });
    const { database } = service;
    const rows = database.rows.bind(database);
    const spy = jest.spyOn(database, 'rows').mockImplementation(async (text: string, values?: readonly SqlValue[]) => {
      const found = await rows(text, values);
      if (/FROM login_logs/.test(text)) await database.affected('DELETE FROM login_logs');
      if (/FROM trusted_devices/.test(text))
        await database.affected("UPDATE trusted_devices SET ip = '198.51.100.9', last_used_at = ?", [
          service.clock.now(),
        ]);
      return found;
    });
    expect(await shortening().shorten()).toBe(0);
    spy.mockRestore();
    expect(await addresses('trusted_devices')).toEqual(['198.51.100.9']);
  });

  it('two runs at once shorten each address once', async () => {
    for (let n = 0; n < 700; n++) await login(ago(60, -n), '203.0.113.9');
    const counts = await Promise.all([shortening().shorten(), shortening().shorten()]);
    expect(counts.reduce((a, b) => a! + b!)).toBe(700);
  });
});
