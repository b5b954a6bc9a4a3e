import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkDirectory } from '../../src/directory/directory-check';
import { loadConfig } from '../../src/settings/app-config';
import { givenPerson, ldapSettings } from '../support/ldap';
import { OpenLdap } from '../support/servers/openldap';
import { testSettings } from '../support/settings';

describe('the check of the directory by doctor', () => {
  let directory: OpenLdap;

  beforeAll(async () => {
    directory = await OpenLdap.start();
    await givenPerson(directory, 'alice');
  });

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
        health: 'ok',
        detail: expect.stringMatching(/^service account and search work over TLS \(\d+ ms\)$/),
      },
      {
        server: 'ldap://127.0.0.1:1',
        health: 'problem',
        detail: expect.stringMatching(
          /^connection refused or lost \(ECONNREFUSED\): check the host and port of LDAP_URL/,
        ),
      },
    ]);
  });

  it.each([
    ['the service account is refused', { LDAP_BIND_PASSWORD: 'wrong' }, 'check LDAP_BIND_DN and LDAP_BIND_PASSWORD'],
    ['the base does not exist', { LDAP_SEARCH_BASE: 'ou=nowhere,dc=example,dc=test' }, 'check LDAP_SEARCH_BASE'],
    [
      'the filter matches every name',
      { LDAP_SEARCH_FILTER: '(|(uid={{username}})(ou=*))' },
      'LDAP_SEARCH_FILTER finds an entry for a name that nobody has',
    ],
    ['the filter matches nobody', { LDAP_SEARCH_FILTER: '(sn=no-{{username}})' }, 'LDAP_SEARCH_FILTER finds nobody'],
    ['nobody has a login name', { LDAP_ATTR_LOGIN: 'sAMAccountName' }, 'LDAP_ATTR_LOGIN: nobody'],
    [
      'the required group does not exist',
      { LDAP_GROUP_REQUIRED: 'cn=none,ou=groups,dc=example,dc=test' },
      'LDAP_GROUP_REQUIRED names no entry',
    ],
    [
      'the group of administrators does not exist',
      { LDAP_GROUP_ADMIN: 'cn=none,ou=groups,dc=example,dc=test' },
      'LDAP_GROUP_ADMIN names no entry',
    ],
    [
      'the required group does not exist, and a warning comes first',
      { LDAP_ATTR_EMAIL: 'otherMailbox', LDAP_GROUP_REQUIRED: 'cn=none,ou=groups,dc=example,dc=test' },
      'LDAP_GROUP_REQUIRED names no entry',
    ],
    ['StartTLS has a certificate of nobody', { LDAP_START_TLS: 'true' }, 'set LDAP_CA_FILE'],
  ])('reports a problem and the setting to change when %s', async (_what, settings, detail) => {
    expect(await check(settings)).toMatchObject([{ health: 'problem', detail: expect.stringContaining(detail) }]);
  });

  it.each([
    ['passwords travel in clear', {}, 'passwords travel in clear: use ldaps:// or LDAP_START_TLS'],
    ['nobody has an address', { LDAP_ATTR_EMAIL: 'otherMailbox' }, 'LDAP_ATTR_EMAIL: nobody'],
    ['nobody has a name', { LDAP_ATTR_NAME: 'gecos' }, 'LDAP_ATTR_NAME: nobody'],
    ['nobody has an attribute to match', { LDAP_MATCH_ATTRIBUTES: 'uid,upn' }, 'LDAP_MATCH_ATTRIBUTES: nobody'],
    [
      'a group has no member',
      { LDAP_GROUP_REQUIRED: 'ou=groups,dc=example,dc=test' },
      'LDAP_GROUP_REQUIRED names a group without a visible member',
    ],
  ])('warns when %s', async (_what, settings, detail) => {
    expect(await check(settings)).toMatchObject([{ health: 'warn', detail: expect.stringContaining(detail) }]);
  });

  it('is content with groups that have members', async () => {
    const group = await directory.addGroup('portal', [directory.dnOf('alice')]);
    const groups = { LDAP_GROUP_REQUIRED: group, LDAP_GROUP_ADMIN: group };
    const secure = { LDAP_URL: directory.tlsUrl, LDAP_CA_FILE: directory.caFile };
    expect(await check({ ...secure, ...groups })).toMatchObject([{ health: 'ok' }]);
  });

  it('finds a server of another kind and says so', async () => {
    const http = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await once(http, 'listening');
    const { port } = http.address() as AddressInfo;
    const findings = await check({ LDAP_URL: `ldap://127.0.0.1:${port}` });
    http.close();
    expect(findings).toMatchObject([{ health: 'problem', detail: expect.stringContaining('LDAP_URL') }]);
  });

  it('prints neither a DN nor a password', async () => {
    const text = JSON.stringify([
      await check({ LDAP_BIND_PASSWORD: 'my-wrong-secret' }),
      await check({ LDAP_GROUP_REQUIRED: 'cn=none,ou=groups,dc=example,dc=test' }),
    ]);
    for (const secret of ['my-wrong-secret', directory.adminPassword, 'dc=example']) expect(text).not.toContain(secret);
  });
});
