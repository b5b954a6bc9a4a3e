import { FakeClock } from '../../test/support/fakes';
import type { BrandSettings } from '../mail/brand-settings';
import { MailBrands } from '../mail/mail-brands';
import type { User } from '../users/user.entity';
import type { UsersRepository } from '../users/users.repository';
import type { Brand } from './brand.entity';
import type { BrandFiles } from './brand-files';
import { BrandsOfMails } from './brands-of-mails';
import type { Brands } from './brands.repository';
import { brandFreshForMs, TenantBrands } from './tenant-brands';

/** What the database has, and which rows were asked for. */
function world() {
  const rows = new Map<string, Partial<Brand>>();
  const asked: string[] = [];
  const state = { away: false };
  const find = (id: string): Promise<Brand | null> => {
    asked.push(id);
    if (state.away) return Promise.reject(new Error('the database is away'));
    return Promise.resolve((rows.get(id) as Brand | undefined) ?? null);
  };
  const anyOfTenant = (): Promise<boolean> => {
    asked.push('any');
    return Promise.resolve([...rows.keys()].some((id) => id !== '*'));
  };
  const clock = new FakeClock();
  const settings = { color: '#2457c5', name: 'Environment' } as BrandSettings;
  const brands = new TenantBrands({ find, anyOfTenant } as unknown as Brands, settings, clock);
  const nameOf = async (id?: string) => (await brands.shown(id)).name;
  return { rows, asked, state, clock, brands, nameOf };
}

describe('the brands in memory', () => {
  it('a brand is read once in five seconds, also by callers at the same moment', async () => {
    const { rows, asked, clock, nameOf } = world();
    rows.set('acme', { name: 'Acme' });
    expect(await Promise.all([nameOf('acme'), nameOf('acme'), nameOf()])).toEqual(['Acme', 'Acme', 'Environment']);
    rows.set('acme', { name: 'Changed' });
    clock.advanceSeconds(brandFreshForMs / 1000 - 1);
    expect(await nameOf('acme')).toBe('Acme');
    expect(asked).toEqual(['acme', '*']);
    clock.advanceSeconds(1);
    expect(await nameOf('acme')).toBe('Changed');
  });

  it('the replica that has changed a brand shows it at once', async () => {
    const { rows, brands, nameOf } = world();
    rows.set('acme', { name: 'Acme' });
    await nameOf('acme');
    rows.set('acme', { name: 'Changed' });
    brands.forget('acme');
    expect(await nameOf('acme')).toBe('Changed');
  });

  it('while the database is away, the brand of before is shown, and the environment for one that was not read', async () => {
    const { rows, state, clock, nameOf } = world();
    rows.set('acme', { name: 'Acme' });
    await nameOf('acme');
    state.away = true;
    clock.advanceSeconds(60);
    expect([await nameOf('acme'), await nameOf('other')]).toEqual(['Acme', 'Environment']);
    state.away = false;
    rows.set('acme', { name: 'Changed' });
    clock.advanceSeconds(60);
    expect(await nameOf('acme')).toBe('Changed');
  });

  it('somebody who asks for many tenants makes the memory no larger than 500 brands', async () => {
    const { asked, nameOf } = world();
    for (let n = 0; n < 2000; n++) await nameOf(`t-${n}`);
    asked.length = 0;
    // The default is asked for with each of them.
    for (let n = 1999; n > 1500; n--) await nameOf(`t-${n}`);
    expect(asked).toEqual([]);
    await nameOf('t-0');
    expect(asked).toEqual(['t-0']);
  });

  it.each(['*', '', 'x'.repeat(65), "a' OR 1", 'a b', 'ä'])(
    '%j is no id of a tenant, and costs no statement',
    async (id) => {
      const { asked, nameOf } = world();
      expect(await nameOf(id)).toBe('Environment');
      expect(asked).toEqual(['*']);
    },
  );

  it('two logos of one brand belong together: none comes from another one', async () => {
    const { rows, brands } = world();
    const name = (letter: string) => `${letter.repeat(40)}.png`;
    rows.set('*', { logoLight: name('a'), logoDark: name('b') });
    rows.set('acme', { logoDark: name('c') });
    expect(await brands.shown('acme')).toMatchObject({ logoUrl: null, logoDarkUrl: `/brand/${name('c')}` });
    expect(await brands.shown('other')).toMatchObject({ logoUrl: `/brand/${name('a')}` });
  });

  it('a mail reads no user where no tenant has a brand, and the first brand of a tenant is seen after five seconds', async () => {
    const { rows, asked, clock, brands } = world();
    const findByUid = jest.fn(() => Promise.resolve({ tenantId: 'acme' } as User));
    const mails = new MailBrands();
    new BrandsOfMails(mails, { findByUid } as unknown as UsersRepository, brands, {} as BrandFiles);
    rows.set('*', { name: 'Default' });
    for (let n = 0; n < 3; n++) expect(await mails.of('uid')).toMatchObject({ name: 'Default' });
    expect([findByUid.mock.calls, asked]).toEqual([[], ['any', '*']]);
    rows.set('acme', { name: 'Acme' });
    clock.advanceSeconds(brandFreshForMs / 1000);
    expect(await mails.of('uid')).toMatchObject({ name: 'Acme' });
    expect(await mails.of(null)).toMatchObject({ name: 'Default' });
  });
});
