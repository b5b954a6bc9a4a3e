import { checkDirectory } from '../../src/directory/directory-check';
import { loadConfig } from '../../src/platform/config/app-config';
import { ldapSettings } from '../support/ldap';
import { OpenLdap } from '../support/servers/openldap';
import { testSettings } from '../support/settings';

describe('the check of the directory by doctor', () => {
  let directory: OpenLdap;

  beforeAll(async () => {
    directory = await OpenLdap.start();
  }, 60_000);

  afterAll(() => directory?.stop());

  const check = (settings: Record<string, string>) =>
    checkDirectory(loadConfig({ ...testSettings, ...ldapSettings(directory, settings) }).ldap!);

  it('reports each server: one that works and one that is absent', async () => {
    const findings = await check({
      LDAP_URL: `${directory.tlsUrl},ldap://127.0.0.1:1`,
      LDAP_CA_FILE: directory.caFile,
    });
    expect(findings).toEqual([
      {
        server: directory.tlsUrl,
        ok: true,
        detail: expect.stringMatching(/^service account and search work \(\d+ ms\)$/),
      },
      { server: 'ldap://127.0.0.1:1', ok: false, detail: 'connection refused or lost (ECONNREFUSED)' },
    ]);
  });

  it.each([
    ['the service account is refused', { LDAP_BIND_PASSWORD: 'wrong' }, 'service account refused'],
    ['the base does not exist', { LDAP_SEARCH_BASE: 'ou=nowhere,dc=example,dc=test' }, 'search base not found'],
    [
      'the filter matches every name',
      { LDAP_SEARCH_FILTER: '(|(uid={{username}})(ou=*))' },
      'the search filter finds an entry for a name that nobody has',
    ],
  ])('reports when %s', async (_what, settings, detail) => {
    expect(await check(settings)).toMatchObject([{ ok: false, detail }]);
  });

  it('warns when passwords travel in clear', async () => {
    expect(await check({})).toMatchObject([{ ok: true, detail: expect.stringContaining('in clear') }]);
  });
});
