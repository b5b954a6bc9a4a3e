import { operatorAuthority } from '../../src/admin/authority';
import { BrandAdministration } from '../../src/admin/brand-administration';
import { BrandFiles } from '../../src/brand/brand-files';
import { Brands } from '../../src/brand/brands.repository';
import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';

const svg = (n: number) => {
  const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><path d="M0 0h${n + 1}v4z"/></svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(text).toString('base64')}`;
};

/** Parallel callers use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('guarded writes of brands', () => {
  let services: [TestService, TestService];
  beforeAll(async () => {
    const clock = new FakeClock();
    const first = await TestService.start({ ADMIN_API: 'on' }, { clock });
    const second =
      __DATABASE__ === 'sqlite' ? first : await TestService.start({ ADMIN_API: 'on' }, { clock, store: first.store });
    services = [first, second];
    for (let n = 0; n < 12; n++) {
      await first.database.affected('INSERT INTO tenants (id, name, created_at) VALUES (?, ?, ?)', [
        ...[`tenant-${n}`, 'Tenant', clock.now()],
      ]);
    }
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  const of = <T>(n: number, type: new (...args: never[]) => T): T => services[n % 2]!.app.get(type);
  const set = (n: number, tenant: string | undefined, change: Parameters<BrandAdministration['set']>[2]) =>
    of(n, BrandAdministration).set(operatorAuthority, tenant, change);

  it('of the first changes of one brand, which set different fields, none is lost', async () => {
    const changes = [
      { name: 'Acme' },
      { tagline: 'Fast' },
      { color: '#a01030' },
      { supportUrl: 'mailto:a@example.com' },
    ];
    for (let round = 0; round < 5; round++) {
      const tenant = `tenant-${round}`;
      await Promise.all(changes.map((change, n) => set(n, tenant, change)));
      expect(await of(0, Brands).find(tenant)).toMatchObject(Object.assign({}, ...changes) as object);
      expect(await services[0].count('brands', 'tenant_id = ?', [tenant])).toBe(1);
    }
  });

  it('of 8 logos at once one stays, whole, and it is the one that the row names', async () => {
    for (let round = 5; round < 10; round++) {
      const tenant = `tenant-${round}`;
      await Promise.all(Array.from({ length: 8 }, (_, n) => set(n, tenant, { logoLight: svg(n) })));
      const row = (await of(0, Brands).find(tenant))!;
      expect(await services[0].count('brand_images', 'tenant_id = ?', [tenant])).toBe(1);
      const stored = await of(1, BrandFiles).find(row.logoLight!);
      expect(Array.from({ length: 8 }, (_, n) => svg(n))).toContain(
        `data:image/svg+xml;base64,${stored!.toString('base64')}`,
      );
    }
  });

  it('a logo that is set beside the removal of the logo is there with its row, or gone with it', async () => {
    for (let round = 0; round < 8; round++) {
      await Promise.all([set(0, 'tenant-10', { logoDark: svg(round) }), set(1, 'tenant-10', { logoDark: null })]);
      const row = (await of(0, Brands).find('tenant-10'))!;
      const images = await services[0].count('brand_images', "tenant_id = ? AND field = 'logoDark'", ['tenant-10']);
      expect(images).toBe(row.logoDark === null ? 0 : 1);
      if (row.logoDark !== null) expect(await of(0, Brands).image(row.logoDark)).toBeDefined();
    }
  });
});
