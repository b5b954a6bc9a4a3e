import { checkDirectory } from '../../src/directory/directory-check';
import { loadConfig } from '../../src/settings/app-config';
import { TestService } from '../support/app';
import { givenGroup } from '../support/groups';
import { freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { OpenLdap } from '../support/servers/openldap';
import { testSettings } from '../support/settings';

/** docs/spec/extensions.md#l: memberships of a directory user follow the groups of the entry (`LDAP_GROUPS`). */
describe('groups that follow the directory', () => {
  let directory: OpenLdap;
  let service: TestService;
  let sales: string;
  let north: string;
  beforeAll(async () => {
    directory = await OpenLdap.start();
    sales = await directory.addGroup('Sales, North', [directory.adminDn]);
    north = await directory.addUniqueGroup('unique', [directory.adminDn]);
    // Another case, spaces and another escape: the server compares the DNs.
    const written = sales.replace('cn=', 'CN = ').replace('\\,', '\\2C').replaceAll(',', ' , ').toUpperCase();
    const named = { [written]: 'Sales', [north]: 'Sales EMEA', [`cn=nobody,ou=groups,${directory.baseDn}`]: 'Nobody' };
    service = await TestService.start(
      ldapSettings(directory, { LDAP_JIT_PROVISIONING: 'true', LDAP_GROUPS: JSON.stringify(named) }),
    );
  });
  afterAll(async () => {
    await service?.stop();
    await directory?.stop();
  });

  async function signedIn(name: string) {
    const { status, body } = await ldapLogin(service, name);
    expect(status).toBe(200);
    return {
      uid: body.data.user_info.uid as string,
      access: body.data.access_token as string,
      refresh: body.data.refresh_token as string,
    };
  }
  const groups = async (bearer: string) => (await service.get('/user/me', { bearer })).body.data.groups as string[];
  const audited = (event: string, uid: string) =>
    service.count('audit_logs', 'event = ? AND user_id = ?', [event, uid]);

  it('join and leave at a login, also where the server does not maintain memberOf, and are audited once each', async () => {
    const name = freshName();
    const dn = await givenPerson(directory, name);
    const first = await signedIn(name);
    expect(await groups(first.access)).toEqual([]);
    await directory.setMembers(sales, [directory.adminDn, dn]);
    const second = await signedIn(name);
    expect(await groups(second.access)).toEqual(['Sales']);
    // The token of before shows them as well: it carries no list.
    expect(await groups(first.access)).toEqual(['Sales']);
    await signedIn(name);
    expect(await audited('GROUP_MEMBER_ADDED', first.uid)).toBe(1);
    await directory.setMembers(sales, [directory.adminDn]);
    expect(await groups((await signedIn(name)).access)).toEqual([]);
    expect(await audited('GROUP_MEMBER_REMOVED', first.uid)).toBe(1);
    expect(await service.count('user_groups', "source = 'directory' AND tenant_id = 'root'")).toBe(1);
  });

  it('are looked at again by the look of a refresh', async () => {
    const name = freshName();
    const dn = await givenPerson(directory, name);
    await directory.setMembers(sales, [directory.adminDn, dn]);
    const { access, refresh } = await signedIn(name);
    expect(await groups(access)).toEqual(['Sales']);
    await directory.setMembers(sales, [directory.adminDn]);
    service.clock.advanceSeconds(301);
    expect((await service.post('/refresh', undefined, { bearer: refresh })).status).toBe(200);
    expect(await groups(access)).toEqual([]);
  });

  it('as many as the setting allows, beside the two groups with settings of their own, refuse no login and no check', async () => {
    const name = freshName();
    const dn = await givenPerson(directory, name);
    const last = await directory.addGroup('last', [dn]);
    const others = Array.from({ length: 99 }, (_, n) => [`cn=other${n},ou=groups,${directory.baseDn}`, `Other ${n}`]);
    const settings = ldapSettings(directory, {
      ...{ LDAP_JIT_PROVISIONING: 'true', LDAP_GROUP_REQUIRED: last, LDAP_GROUP_ADMIN: sales },
      LDAP_GROUPS: JSON.stringify(Object.fromEntries([...others, [last, 'Last']])),
    });
    const another = await TestService.start(settings);
    try {
      const { status, body } = await ldapLogin(another, name);
      expect({ status, code: body.error_code }).toEqual({ status: 200, code: undefined });
      const me = await another.get('/user/me', { bearer: body.data.access_token });
      expect(me.body.data.groups).toEqual(['Last']);
    } finally {
      await another.stop();
    }
    const [finding] = await checkDirectory(loadConfig({ ...testSettings, ...settings }).ldap!);
    expect(finding!.detail).toContain('entry 99 of LDAP_GROUPS names no entry');
    expect(finding!.detail).not.toContain('malformed answer');
  });

  it('leave the groups of administrators alone, also one with the same name (T561)', async () => {
    const name = freshName();
    const dn = await givenPerson(directory, name);
    await service.database.affected("DELETE FROM user_groups WHERE name_key = 'sales'");
    await givenGroup(service, 'SALES');
    await directory.setMembers(sales, [directory.adminDn, dn]);
    const { uid, access } = await signedIn(name);
    const own = await givenGroup(service, 'By hand', { members: [uid] });
    await signedIn(name);
    expect(await groups(access)).toEqual(['By hand']);
    expect(await service.count('user_group_members', 'group_id = ?', [own])).toBe(1);
  });
});
