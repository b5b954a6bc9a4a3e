import { checkDirectory } from '../../src/directory/directory-check';
import { loadConfig } from '../../src/settings/app-config';
import { TestService } from '../support/app';
import {
  domainLogin,
  domainPassword,
  domainSettings,
  type Employee,
  givenEmployee,
  withService,
} from '../support/active-directory';
import { freshName } from '../support/ldap';
import { eventually } from '../support/servers/eventually';
import { Samba } from '../support/servers/samba';
import { testSettings } from '../support/settings';

describe('login at a domain controller of Active Directory', () => {
  let domain: Samba;
  let service: TestService;

  beforeAll(async () => {
    domain = await Samba.start();
    service = await TestService.start(domainSettings(domain));
  });

  afterAll(async () => {
    await service?.stop();
    await domain?.stop();
  });

  async function failures({ name }: Employee): Promise<number> {
    const row = await service.database.row<{ n: number }>(
      'SELECT login_failed_count AS n FROM users WHERE login_name = ?',
      [name],
    );
    return Number(row?.n);
  }

  async function outcomes(name: string): Promise<string[]> {
    const rows = await service.database.rows<{ outcome: string }>(
      'SELECT outcome FROM login_logs WHERE login_name = ? ORDER BY id',
      [name],
    );
    return rows.map(({ outcome }) => outcome);
  }

  it('the first login makes an account with the name, the address and the display name of the entry', async () => {
    const { name } = await givenEmployee(domain);
    expect(await domainLogin(service, name)).toBe('success');
    const row = await service.database.row('SELECT * FROM users WHERE login_name = ?', [name]);
    expect(row).toMatchObject({
      provider: 'ldap',
      email: `${name}@example.test`,
      nickname: `${name} of the staff`,
      password: null,
    });
  });

  it.each([
    ['a wrong password (52e)', () => Promise.resolve(), 'LOGIN_401001'],
    ['closed hours (530)', (dn: string) => domain.closeHours(dn), 'LOGIN_401012'],
    ['an expired password (532)', (dn: string) => domain.expirePassword(dn), 'LOGIN_401012'],
    ['a disabled account (533)', (dn: string) => domain.disable(dn), 'LOGIN_401011'],
    ['an expired account (701)', (dn: string) => domain.expireAccount(dn), 'LOGIN_401012'],
    ['a password that must be changed (773)', (dn: string) => domain.demandNewPassword(dn), 'LOGIN_401012'],
    ['an account locked by the domain (775)', (dn: string) => domain.lock(dn), 'LOGIN_401004'],
  ])('%s is answered and logged by its code, and only a wrong password is counted', async (what, put, code) => {
    const employee = await givenEmployee(domain);
    expect(await domainLogin(service, employee.name)).toBe('success');
    await put(employee.dn);
    const isWrong = what.includes('52e');
    expect(await domainLogin(service, employee.name, isWrong ? 'wrong' : domainPassword)).toBe(code);
    expect(await failures(employee)).toBe(isWrong ? 1 : 0);
    expect(await outcomes(employee.name)).toEqual(['success', code]);
  });

  it('the state of an account is told only to who knows its password', async () => {
    const employee = await givenEmployee(domain);
    expect(await domainLogin(service, employee.name)).toBe('success');
    await domain.disable(employee.dn);
    expect(await domainLogin(service, employee.name, 'wrong')).toBe('LOGIN_401001');
    expect(await failures(employee)).toBe(1);
  });

  it('a name that the domain does not know is LOGIN_404001', async () => {
    expect(await domainLogin(service, freshName('nobody'))).toBe('LOGIN_404001');
  });

  it('guesses lock the account here before the domain locks it for everything else', async () => {
    const employee = await givenEmployee(domain);
    expect(await domainLogin(service, employee.name)).toBe('success');
    for (let n = 0; n < 10; n++) await domainLogin(service, employee.name, `guess ${n}`);
    expect(await domainLogin(service, employee.name)).toBe('LOGIN_401004');
    expect(await domain.wrongPasswords(employee.dn)).toBe(3);
    expect(domain.lockoutThreshold).toBeGreaterThan(3);
    service.clock.advanceSeconds(901);
    expect(await domainLogin(service, employee.name)).toBe('success');
  });

  it.each([
    ['Łęcka', 'Zoë Łęcka'],
    ["o'brien", 'O\'Brien, Pat "the first"'],
    ['par(en)s', 'Back\\slash; <angle> = x'],
    ['#hash & co', '# Hash + Co'],
    ['$&', ' $` {{username}}'],
    ['{{username}}', 'sl/ash'],
  ])('the account %j of the entry %j logs in, and a wrong password is refused', async (name, cn) => {
    await domain.addUser({ name, cn, password: 'Pässwort-{{1}} "x" \\*', mail: `${freshName('odd')}@example.test` });
    expect(await domainLogin(service, name, 'Pässwort-{{1}} "x" \\*')).toBe('success');
    expect(await domainLogin(service, name, 'wrong')).toBe('LOGIN_401001');
  });

  it('StartTLS works with the same settings on ldap://', async () => {
    const { name } = await givenEmployee(domain);
    await withService(domainSettings(domain, { LDAP_URL: domain.url, LDAP_START_TLS: 'true' }), async (other) => {
      expect(await domainLogin(other, name)).toBe('success');
      expect(await domainLogin(other, name, 'wrong')).toBe('LOGIN_401001');
    });
  });

  it('a controller with a certificate of an unknown authority is refused, and the log says so', async () => {
    const { name } = await givenEmployee(domain);
    await withService(domainSettings(domain, { LDAP_CA_FILE: '' }), async (other) => {
      expect(await domainLogin(other, name)).toBe('LOGIN_503001');
      expect(JSON.stringify(other.logLines)).toContain('certificate or TLS refused');
    });
  });

  it('an unknown service account is an outage that the log explains, and no failure of the user', async () => {
    const employee = await givenEmployee(domain);
    expect(await domainLogin(service, employee.name)).toBe('success');
    const settings = domainSettings(domain, { LDAP_BIND_DN: 'nobody@example.test' });
    await withService(settings, async (other) => {
      expect(await domainLogin(other, employee.name)).toBe('LOGIN_503001');
      expect(JSON.stringify(other.logLines)).toContain('service account refused');
    });
  });

  describe('without TLS, which the domain demands', () => {
    it('a login is LOGIN_503001, and the log says that TLS is demanded, without a name or a password', async () => {
      const employee = await givenEmployee(domain);
      expect(await domainLogin(service, employee.name)).toBe('success');
      await withService(domainSettings(domain, { LDAP_URL: domain.url }), async (other) => {
        expect(await domainLogin(other, employee.name)).toBe('LOGIN_503001');
        const lines = other.logLines.filter(({ context }) => context === 'directory');
        expect(lines).toMatchObject([{ reason: 'TLS demanded', code: 8, msg: 'TLS demanded (8)' }]);
        for (const secret of [domainPassword, domain.servicePassword, domain.baseDn]) {
          expect(JSON.stringify(other.logLines)).not.toContain(secret);
        }
      });
    });

    it('doctor says what to set', async () => {
      expect(await doctor({ LDAP_URL: domain.url })).toEqual([
        {
          server: `${domain.url}:389`,
          health: 'problem',
          detail: 'TLS demanded (8): use ldaps:// in LDAP_URL, or LDAP_START_TLS=true',
        },
      ]);
    });
  });

  const doctor = (settings: Record<string, string>) =>
    checkDirectory(loadConfig({ ...testSettings, ...domainSettings(domain, settings) }).ldap!);

  it('doctor finds nothing to change in the settings for Active Directory', async () => {
    const { dn } = await givenEmployee(domain);
    const group = await domain.addGroup('Checked', [dn]);
    const groups = { LDAP_GROUP_REQUIRED: group, LDAP_GROUP_ADMIN: group };
    for (const settings of [groups, { ...groups, LDAP_URL: domain.url, LDAP_START_TLS: 'true' }]) {
      expect(await doctor(settings)).toMatchObject([
        { health: 'ok', detail: expect.stringMatching(/^service account and search work over TLS \(\d+ ms\)$/) },
      ]);
    }
  });

  it.each([
    [
      'the filter of another directory',
      { LDAP_SEARCH_FILTER: '(uid={{username}})' },
      'LDAP_SEARCH_FILTER finds nobody',
    ],
    ['the login name of another directory', { LDAP_ATTR_LOGIN: 'uid' }, 'LDAP_ATTR_LOGIN: nobody'],
    [
      'a group of the wrong name',
      { LDAP_GROUP_ADMIN: 'CN=None,DC=example,DC=test' },
      'LDAP_GROUP_ADMIN names no entry',
    ],
    ['a wrong password of the service account', { LDAP_BIND_PASSWORD: 'wrong' }, 'service account refused (52e)'],
    ['no authority', { LDAP_CA_FILE: '' }, 'set LDAP_CA_FILE'],
  ])('doctor names the setting to change for %s', async (_what, settings, detail) => {
    await givenEmployee(domain);
    expect(await doctor(settings)).toMatchObject([{ health: 'problem', detail: expect.stringContaining(detail) }]);
  });

  describe('with two controllers', () => {
    let twin: Samba;
    let employee: Employee;
    let both: TestService;

    beforeAll(async () => {
      employee = await givenEmployee(domain);
      twin = await domain.twin();
      both = await TestService.start(domainSettings(domain, { LDAP_URL: `${domain.tlsUrl},${twin.tlsUrl}` }));
    });

    afterAll(async () => {
      await both?.stop();
      await twin?.stop();
    });

    const warnings = () => both.logLines.filter(({ context, level }) => context === 'directory' && Number(level) >= 40);

    it('the second one judges while the first one is stopped, and nobody can log in while both are', async () => {
      await domain.kill();
      expect(await domainLogin(both, employee.name)).toBe('success');
      expect(await domainLogin(both, employee.name, 'wrong')).toBe('LOGIN_401001');
      expect(warnings()).toMatchObject([{ server: `${domain.tlsUrl}:636`, code: 'ECONNREFUSED' }]);
      await twin.kill();
      expect(await domainLogin(both, employee.name)).toBe('LOGIN_503001');
      await domain.restart();
      expect(await domainLogin(both, employee.name)).toBe('success');
      await twin.restart();
    });

    it('the second one judges while the first one is silent', async () => {
      await domain.suspend();
      try {
        // The first login can use up its time at the silent controller. Later ones begin with the other one.
        const judged = async () => (await domainLogin(both, employee.name)) === 'success';
        await eventually(judged, { what: 'the second controller judges' });
      } finally {
        await domain.resume();
      }
    });
  });
});
