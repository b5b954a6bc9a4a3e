import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { checkDirectory } from '../../src/directory/directory-check';
import { loadConfig } from '../../src/settings/app-config';
import { domainPassword, withService } from '../support/active-directory';
import { directoryPassword, givenPerson } from '../support/ldap';
import { OpenLdap } from '../support/servers/openldap';
import { Samba } from '../support/servers/samba';
import { testSettings } from '../support/settings';

const page = readFileSync(resolve(__dirname, '../../docs/operations/active-directory.md'), 'utf8');

/** The settings under a heading of the page. The replaced values differ in every installation. */
function settingsOf(heading: string, replaced: Record<string, string>): Record<string, string> {
  const block = page.split(`\n## ${heading}\n`)[1]?.split('```ini\n')[1]?.split('```')[0] ?? '';
  const lines = block
    .trim()
    .split('\n')
    .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]);
  const written = Object.fromEntries(lines.map(([key, value]) => [key, value.replaceAll(/(?<=dc=)com\b/gi, 'test')]));
  expect(Object.keys(written)).toEqual(expect.arrayContaining(Object.keys(replaced)));
  return { ...written, ...replaced };
}

/** Logs in with each name, and returns the account that all of them reach. */
async function accountBehind(settings: Record<string, string>, names: readonly string[], password: string) {
  const found = new Map<string, Record<string, unknown>>();
  let stranger: unknown;
  await withService(settings, async (service) => {
    for (const name of names) {
      const { status, body } = await service.login(name, password, { provider: 'ldap' });
      expect({ name, status }).toEqual({ name, status: 200 });
      found.set(body.data.user_info.uid as string, body.data.user_info as Record<string, unknown>);
    }
    stranger = (await service.login('stranger', password, { provider: 'ldap' })).body.error_code;
  });
  expect(stranger).toBe('LOGIN_401012');
  expect(found.size).toBe(1);
  return [...found.values()][0];
}

const doctor = (settings: Record<string, string>) => checkDirectory(loadConfig({ ...testSettings, ...settings }).ldap!);

/** docs/operations/active-directory.md promises that its settings are tested as they stand there. */
describe('the settings on the page about directories', () => {
  it('for Active Directory log in by every name, and doctor finds nothing to change', async () => {
    const domain = await Samba.start();
    try {
      const dn = await domain.addUser({ name: 'alice', password: domainPassword, mail: 'alice.l@example.test' });
      await domain.addUser({ name: 'stranger', password: domainPassword, mail: 'stranger@example.test' });
      const team = await domain.addGroup('Team', [dn]);
      await domain.addGroup('Portal users', [team]);
      await domain.addGroup('Portal administrators', [dn]);
      const settings = settingsOf('Active Directory', {
        LDAP_URL: domain.tlsUrl,
        LDAP_CA_FILE: domain.caFile,
        LDAP_BIND_PASSWORD: domain.servicePassword,
      });
      expect(await doctor(settings)).toMatchObject([{ health: 'ok' }]);
      const names = ['alice', 'alice@example.test', 'alice.l@example.test'];
      expect(await accountBehind(settings, names, domainPassword)).toMatchObject({
        login_name: 'alice',
        email: 'alice.l@example.test',
        is_admin: true,
      });
    } finally {
      await domain.stop();
    }
  });

  it('for OpenLDAP log in by every name, and doctor finds nothing to change', async () => {
    const directory = await OpenLdap.start();
    try {
      await givenPerson(directory, 'svc-portal');
      const dn = await givenPerson(directory, 'alice', { mail: 'alice.l@example.test' });
      await givenPerson(directory, 'stranger');
      await directory.addGroup('portal-users', [dn]);
      await directory.addGroup('portal-administrators', [dn]);
      const settings = settingsOf('OpenLDAP', {
        LDAP_URL: directory.url,
        LDAP_CA_FILE: directory.caFile,
        LDAP_BIND_PASSWORD: directoryPassword,
      });
      expect(await doctor(settings)).toMatchObject([{ health: 'ok' }]);
      expect(await accountBehind(settings, ['alice', 'alice.l@example.test'], directoryPassword)).toMatchObject({
        login_name: 'alice',
        email: 'alice.l@example.test',
        is_admin: true,
      });
    } finally {
      await directory.stop();
    }
  });

  it('for 389 Directory Server are read without a complaint', () => {
    const settings = settingsOf('389 Directory Server', { LDAP_CA_FILE: '' });
    expect(loadConfig({ ...testSettings, ...settings }).ldap).toMatchObject({ attributes: { login: 'uid' } });
  });
});
