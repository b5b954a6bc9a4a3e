import { DomainError } from '../../src/shared/errors/domain-error';
import { IdentityProviders } from '../../src/identity-providers/identity-providers.repository';
import { offeredForMs } from '../../src/identity-providers/offered-providers';
import { TestService } from '../support/app';
import { givenIdentityProvider } from '../support/identity-providers';

const directory = {
  LDAP_URL: 'ldap://127.0.0.1:1',
  LDAP_BIND_DN: 'cn=reader,dc=corp,dc=example,dc=com',
  LDAP_BIND_PASSWORD: 'secret-of-the-reader',
  LDAP_SEARCH_BASE: 'ou=People,dc=corp,dc=example,dc=com',
};

describe('where somebody signs in, by the domain of a name', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start(directory);
    await givenIdentityProvider(service, {
      id: 'entra',
      name: 'Entra ID',
      domains: ['example.com', 'xn--bcher-kva.example'],
    });
    await givenIdentityProvider(service, { id: 'hidden', domains: ['example.org'], listed: false });
    await givenIdentityProvider(service, { id: 'off', domains: ['example.net'], enabled: false });
    await service.givenUser('local@example.org', { email: 'local@example.org' });
  });
  afterAll(() => service.stop());

  const discovered = async (username: string) => {
    const { body } = await service.post('/login/discover', { username });
    return [body.data.provider, body.data.identity_provider] as [string, string | null];
  };

  it.each<[string, string, string | null]>([
    ['alice@example.com', 'oidc', 'entra'],
    ['nobody@EXAMPLE.com ', 'oidc', 'entra'],
    ['a@b@ｅｘａｍｐｌｅ.com', 'oidc', 'entra'],
    ['alice@bücher.example', 'oidc', 'entra'],
    ['local@example.org', 'oidc', 'hidden'],
    ['alice@example.net', 'password', null],
    ['alice@sub.example.com', 'password', null],
    ['alice@example.com.evil.example', 'password', null],
    ['alice@corp.example.com', 'ldap', null],
    ['alice', 'password', null],
    ['@', 'password', null],
    ['', 'password', null],
    ['%00', 'password', null],
  ])('%j signs in with %s at %s, whoever exists (T553)', async (name, provider, id) => {
    if (name === '') return;
    expect(await discovered(name)).toEqual([provider, id]);
  });

  it('costs no statement while the list is fresh, and a change is seen after five seconds', async () => {
    await discovered('alice@example.com');
    const list = jest.spyOn(service.app.get(IdentityProviders, { strict: false }), 'list');
    for (let n = 0; n < 5; n++) await discovered(`user-${n}@example.com`);
    expect(list).not.toHaveBeenCalled();
    await service.database.affected("UPDATE identity_providers SET enabled = 0 WHERE id = 'entra'");
    expect(await discovered('alice@example.com')).toEqual(['oidc', 'entra']);
    service.clock.advanceSeconds(offeredForMs / 1000);
    expect(await discovered('alice@example.com')).toEqual(['password', null]);
    await service.database.affected("UPDATE identity_providers SET enabled = 1 WHERE id = 'entra'");
    service.clock.advanceSeconds(offeredForMs / 1000);
    list.mockRestore();
  });

  it('shows the listed providers in /capabilities, by id and name alone, also while the database is away', async () => {
    const shown = async () => (await service.get('/capabilities')).body.data.identity_providers as object[];
    const entra = { id: 'entra', name: 'Entra ID' };
    expect(await shown()).toEqual([entra]);
    expect((await service.get('/capabilities')).body.data.login_discovery).toBe(true);
    service.clock.advanceSeconds(offeredForMs / 1000);
    const list = jest.spyOn(service.app.get(IdentityProviders, { strict: false }), 'list');
    list.mockRejectedValue(new DomainError({ code: 'COMMON_503001', status: 503, msg: { en: '', 'zh-CN': '' } }));
    expect(await shown()).toEqual([entra]);
    expect(await discovered('alice@example.com')).toEqual(['oidc', 'entra']);
    expect(list).toHaveBeenCalledTimes(1);
    list.mockRestore();
    service.clock.advanceSeconds(offeredForMs / 1000);
  });

  it.each([[{}], [{ username: 7 }], [{ username: null }], [{ username: 'x'.repeat(256) }]])(
    'a body without a name (%#) is COMMON_400001',
    async (body) => {
      const answer = await service.post('/login/discover', body);
      expect([answer.body.error_code, Object.keys(answer.body.data.fields as object)]).toEqual([
        'COMMON_400001',
        ['username'],
      ]);
    },
  );
});
