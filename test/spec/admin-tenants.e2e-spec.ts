import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';

describe('tenants and organisation units through the API of administrators', () => {
  let service: TestService;
  let root: AdminClient;
  let acme: AdminClient;

  beforeAll(async () => {
    service = await TestService.start(adminSettings);
    root = await AdminClient.of(service, 'root-admin');
    await root.send('POST', 'tenants', { id: 'acme', name: ' Acme ' });
    await root.send('POST', 'tenants', { id: 'other', name: 'Other' });
    acme = await AdminClient.of(service, 'acme-admin', { tenantId: 'acme' });
    await root.send('POST', 'org-units', { id: 'hq', name: 'Headquarters' });
    await root.send('POST', 'org-units', { id: 'far', name: 'Far away', tenant_id: 'other' });
    await acme.send('POST', 'org-units', { id: 'sales', name: 'Sales' });
  });
  afterAll(() => service.stop());

  const ids = async (client: AdminClient, path: string) => (await client.items(path)).map(({ id }) => id as string);
  const newest = async () =>
    (
      await service.database.rows<object>('SELECT event, actor_id, ip, detail FROM audit_logs ORDER BY id DESC LIMIT 1')
    )[0];
  const rows = async () => [
    await ids(root, 'tenants'),
    await ids(root, 'org-units'),
    await service.count('audit_logs'),
  ];

  it('lists, in the order of the ids and page by page', async () => {
    expect(await root.items('tenants')).toEqual([
      { id: 'acme', name: 'Acme' },
      { id: 'other', name: 'Other' },
      { id: 'root', name: 'Root' },
    ]);
    expect(await root.items('org-units')).toEqual([
      { id: 'far', tenant_id: 'other', name: 'Far away' },
      { id: 'hq', tenant_id: 'root', name: 'Headquarters' },
      { id: 'sales', tenant_id: 'acme', name: 'Sales' },
    ]);
    const { items, next } = (await root.get('tenants?limit=2')).body.data;
    expect(items).toHaveLength(2);
    expect((await root.get(`tenants?limit=2&after=${next}`)).body.data).toEqual({
      items: [{ id: 'root', name: 'Root' }],
      next: null,
    });
    expect(await ids(root, 'org-units?tenant_id=acme')).toEqual(['sales']);
    expect((await root.export('org-units')).items).toEqual(await root.items('org-units'));
  });

  it('creates and renames, and each change has an audit row with its actor', async () => {
    const event = (name: string, actor: AdminClient, detail: string) => ({
      event: name,
      actor_id: actor.uid,
      ip: '127.0.0.1',
      detail,
    });
    expect((await root.send('POST', 'tenants', { id: 'new', name: 'New' })).body.data).toEqual({
      id: 'new',
      name: 'New',
    });
    expect(await newest()).toEqual(event('TENANT_CREATED', root, '{"tenant":"new"}'));
    expect((await root.send('PATCH', 'tenants/new', { name: 'Newer' })).body.data).toEqual({
      id: 'new',
      name: 'Newer',
    });
    expect(await newest()).toEqual(event('TENANT_RENAMED', root, '{"tenant":"new"}'));
    const unit = { id: 'lab', tenant_id: 'acme', name: 'Lab' };
    expect((await acme.send('POST', 'org-units', unit)).body.data).toEqual(unit);
    expect(await newest()).toEqual(event('ORG_UNIT_CREATED', acme, '{"tenant":"acme","unit":"lab"}'));
    const renamed = await acme.send('PATCH', 'org-units/lab', { name: 'Laboratory' });
    expect(renamed.body.data).toEqual({ ...unit, name: 'Laboratory' });
    expect(await newest()).toEqual(event('ORG_UNIT_RENAMED', acme, '{"tenant":"acme","unit":"lab"}'));
    // The same name once more is a success.
    expect(outcomeOf(await acme.send('PATCH', 'org-units/lab', { name: 'Laboratory' }))).toBe('success');
  });

  it.each([
    [{ id: 'acme', name: 'Again' }, 'id'],
    [{ id: 'a b', name: 'x' }, 'id'],
    [{ id: 'root ', name: 'x' }, 'id'],
    [{ id: '', name: 'x' }, 'id'],
    [{ id: '..', name: 'x' }, 'id'],
    [{ id: 'x'.repeat(65), name: 'x' }, 'id'],
    [{ id: 'ok', name: ' ' }, 'name'],
    [{ id: 'ok', name: 'x'.repeat(256) }, 'name'],
    [{ id: 'ok', name: 'a\u0000' }, 'name'],
    [{ id: 'ok' }, 'name'],
    [{ id: 7, name: 'x' }, 'id'],
    [{ id: 'ok', name: 'x', is_admin: true }, 'is_admin'],
  ])('a wrong tenant (%#) is COMMON_400001, names the field and changes nothing', async (body, field) => {
    const before = await rows();
    const answer = await root.send('POST', 'tenants', body);
    expect([outcomeOf(answer), Object.keys(answer.body.data.fields as object)]).toEqual(['COMMON_400001', [field]]);
    expect(await rows()).toEqual(before);
  });

  it('of parallel creations with one id exactly one succeeds', async () => {
    for (const path of ['tenants', 'org-units']) {
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, n) => root.send('POST', path, { id: `race`, name: `Racer ${n}` })),
      );
      expect(answers.map(outcomeOf).sort()).toEqual([...(Array(5).fill('COMMON_400001') as string[]), 'success']);
    }
  });

  it('an unknown tenant or unit is USER_404001, also null, and the id of a known one and a space', async () => {
    for (const [method, path, body] of [
      ['PATCH', 'tenants/nowhere', { name: 'x' }],
      ['PATCH', 'tenants/root%20', { name: 'x' }],
      ['PATCH', 'org-units/nowhere', { name: 'x' }],
      ['PATCH', 'org-units/hq%20', { name: 'x' }],
      ['POST', 'org-units', { id: 'one', name: 'x', tenant_id: 'nowhere' }],
      ['POST', 'org-units', { id: 'one', name: 'x', tenant_id: 'root ' }],
      ['POST', 'org-units', { id: 'one', name: 'x', tenant_id: null }],
    ] as const) {
      const before = await rows();
      expect([path, outcomeOf(await root.send(method, path, body))]).toEqual([path, 'USER_404001']);
      expect(await rows()).toEqual(before);
    }
  });

  describe('an administrator of another tenant', () => {
    it('has no tenants: AUTH_403001', async () => {
      for (const answer of [
        await acme.get('tenants'),
        await acme.send('POST', 'tenants', { id: 'mine', name: 'Mine' }),
        await acme.send('PATCH', 'tenants/acme', { name: 'Mine' }),
      ]) {
        expect(outcomeOf(answer)).toBe('AUTH_403001');
      }
    });

    it('cannot see, create or rename units of other tenants, by filter, cursor, path or body (T314)', async () => {
      const own = await ids(acme, 'org-units');
      expect(own).toContain('sales');
      expect(own).not.toEqual(expect.arrayContaining(['hq']));
      expect(own).not.toEqual(expect.arrayContaining(['far']));
      expect(await ids(acme, 'org-units?tenant_id=other')).toEqual([]);
      const { next } = (await root.get('org-units?limit=1')).body.data;
      expect(await ids(acme, `org-units?after=${next}`)).toEqual(own);
      expect((await acme.export('org-units')).items.map(({ id }) => id as string)).toEqual(own);
      const before = await rows();
      for (const answer of [
        await acme.send('PATCH', 'org-units/far', { name: 'Mine' }),
        await acme.send('POST', 'org-units', { id: 'one', name: 'x', tenant_id: 'other' }),
        await acme.send('POST', 'org-units', { id: 'one', name: 'x', tenant_id: 'nowhere' }),
      ]) {
        expect(outcomeOf(answer)).toBe('USER_404001');
      }
      expect(await rows()).toEqual(before);
    });
  });

  it('nothing changes when the audit row cannot be written (T320)', async () => {
    const before = await rows();
    await service.database.affected('ALTER TABLE audit_logs RENAME TO audit_logs_away');
    for (const [method, path, body] of [
      ['POST', 'tenants', { id: 'lost', name: 'x' }],
      ['PATCH', 'tenants/acme', { name: 'lost' }],
      ['POST', 'org-units', { id: 'lost', name: 'x' }],
      ['PATCH', 'org-units/hq', { name: 'lost' }],
      ['PUT', 'config/SMTP/HOST', { value: 'lost.example.com' }],
    ] as const) {
      expect([path, outcomeOf(await root.send(method, path, body))]).toEqual([path, 'COMMON_503001']);
    }
    await service.database.affected('ALTER TABLE audit_logs_away RENAME TO audit_logs');
    expect(await rows()).toEqual(before);
    expect(await service.count('tenants', "name = 'lost'")).toBe(0);
    expect(await service.count('org_units', "name = 'lost'")).toBe(0);
    expect(await service.count('system_configs')).toBe(0);
  });
});
