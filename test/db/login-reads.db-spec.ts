import { DataSource, type Repository } from 'typeorm';
import type { Database } from '../../src/platform/database/database';
import { Memberships } from '../../src/users/membership.repository';
import { changeType } from '../../src/shared/change-type';
import { PasswordHistory } from '../../src/users/password-change-log.repository';
import { User } from '../../src/users/user.entity';
import { UsersRepository } from '../../src/users/users.repository';
import { TestService } from '../support/app';
import { countStatements } from '../support/count-statements';

/** Prepared statements replace TypeORM's finders (ADR 0014). Both must return the same values. */
describe('the reads of a login', () => {
  let service: TestService;
  let database: Database;
  beforeAll(async () => {
    service = await TestService.start();
    database = service.database;
  });
  afterAll(() => service.stop());

  describe('the user is read as TypeORM reads it', () => {
    let users: UsersRepository;
    let rows: Repository<User>;
    beforeAll(() => {
      users = service.app.get(UsersRepository);
      rows = service.app.get(DataSource).getRepository(User);
    });

    /** Looks the user up in each of the three ways and compares with TypeORM's own finder. */
    async function expectAsTypeormFinds(uid: string, passwordSetAt: Date | null): Promise<User> {
      const expected = Object.assign((await rows.findOneBy({ uid }))!, { passwordSetAt });
      const found = [await users.findByUid(uid), await users.findByLoginName(expected.loginName)];
      found.push(await users.findSigningIn(expected.loginName));
      if (expected.email !== null)
        found.push(await users.findByEmail(expected.email), await users.findSigningIn(expected.email));
      for (const user of found) expect(user).toStrictEqual(expected);
      return expected;
    }

    it('with every column set', async () => {
      const { uid } = await service.givenUser('Full', { isAdmin: true, mfaType: 'totp', temporary: true });
      const [failed, succeeded, blocked] = [
        '2026-03-29T01:30:00.123Z',
        '2026-10-25T01:30:00.000Z',
        '2031-01-01T00:00:00.999Z',
      ];
      await database.affected(
        `UPDATE users SET login_failed_count = 2, last_login_failed_time = ?, last_login_success_time = ?, topt_secret = ?,
         mfa_failed_count = 3, mfa_blocked_until = ?, credential_version = 4, org_unit_id = 'fin', nickname = ?, directory_id = ?,
         directory_seen_at = ?, directory_look_until = ?, deleted_at = ?, enabled_at = ?, language = 'de', proven_email_key = email_key, identity_provider_id = 'acme',
         external_id = 'oid-1', role = 'auditor', legacy_login = 1 WHERE uid = ?`,
        [
          new Date(failed),
          new Date(succeeded),
          'sealed'.repeat(100),
          new Date(blocked),
          'Zoë 🦊',
          uid,
          new Date(failed),
          new Date(blocked),
          new Date(blocked),
          new Date(succeeded),
          uid,
        ],
      );
      const user = await expectAsTypeormFinds(uid, service.clock.now());
      const columns = rows.metadata.columns
        .filter(({ isSelect }) => isSelect)
        .map(({ propertyName }) => user[propertyName as keyof User]);
      expect(columns).not.toContain(null);
      expect(columns).not.toContain(undefined);
      expect(user).toMatchObject({
        isAdmin: true,
        lastLoginFailedTime: new Date(failed),
        mfaBlockedUntil: new Date(blocked),
      });
    });

    it('with every nullable column null', async () => {
      const { uid } = await service.givenUser('bare', { password: null, email: null, nickname: null });
      const user = await expectAsTypeormFinds(uid, null);
      const nullable = rows.metadata.columns.filter(({ isNullable, isSelect }) => isNullable && isSelect);
      expect(nullable.length).toBeGreaterThan(8);
      for (const { propertyName } of nullable) expect(user[propertyName as keyof User]).toBeNull();
    });

    it('as null when there is no such user', async () => {
      expect(await users.findByLoginName('nobody')).toBeNull();
      expect(await users.findByEmail('nobody@example.com')).toBeNull();
      expect(await users.findSigningIn('nobody@example.com')).toBeNull();
      expect(await users.findByUid('6f1c8a52-0d5e-4a0b-9a3e-0d1f2e3a4b5c')).toBeNull();
    });

    it('by an address only if it is that of a local user, and no login name', async () => {
      await service.givenUser('local-one', { email: 'one@example.com' });
      await service.givenUser('remote-one', { email: 'remote@example.com', provider: 'ldap' });
      const named = await service.givenUser('two@example.com', { email: 'else@example.com' });
      await service.givenUser('local-two', { email: 'two@example.com' });
      expect(await users.findSigningIn('ONE@example.com')).toMatchObject({ loginName: 'local-one' });
      expect(await users.findSigningIn('remote@example.com')).toBeNull();
      expect(await users.findSigningIn('two@example.com')).toMatchObject({ uid: named.uid });
    });

    it('with the time of the newest password change, which decides about the expiry, or without one the time of creation', async () => {
      const history = service.app.get(PasswordHistory);
      const day = 86_400;
      const { uid } = await service.givenUser('ages', { passwordSetAt: service.clock.secondsFromNow(-day) });
      await service.givenUser('other', { passwordSetAt: service.clock.now() });
      const isExpired = async () => history.isExpired((await users.findByUid(uid))!);
      const setAt = async (daysAgo: number) => {
        const time = service.clock.secondsFromNow(-daysAgo * day);
        await database.affected(
          'INSERT INTO user_change_pwd_logs (user_id, type, password, created_at) VALUES (?, ?, ?, ?)',
          [uid, changeType.own, 'x', time],
        );
        expect((await users.findByUid(uid))!.passwordSetAt).toEqual(time);
      };
      expect(await isExpired()).toBe(false);
      await setAt(91);
      expect(await isExpired()).toBe(true);
      await setAt(89);
      expect(await isExpired()).toBe(false);
      await database.affected('DELETE FROM user_change_pwd_logs WHERE user_id = ?', [uid]);
      expect(await isExpired()).toBe(false);
      await database.affected('UPDATE users SET created_at = ? WHERE uid = ?', [
        service.clock.secondsFromNow(-91 * day),
        uid,
      ]);
      expect(await isExpired()).toBe(true);
    });
  });

  describe('the memberships are read', () => {
    const tenant = (id: string, name: string) =>
      database.affected('INSERT INTO tenants (id, name, created_at) VALUES (?, ?, ?)', [id, name, service.clock.now()]);
    const unit = (id: string, tenantId: string, name: string) =>
      database.affected('INSERT INTO org_units (id, tenant_id, name) VALUES (?, ?, ?)', [id, tenantId, name]);
    const member = async (uid: string, tenants: string[], units: string[]) => {
      for (const id of tenants)
        await database.affected('INSERT INTO user_tenants (user_id, tenant_id) VALUES (?, ?)', [uid, id]);
      for (const id of units)
        await database.affected('INSERT INTO user_org_units (user_id, org_unit_id) VALUES (?, ?)', [uid, id]);
    };

    beforeAll(async () => {
      // Names that another collation would sort differently, one name twice, and ids that a tenant and a unit share.
      for (const [id, name] of [
        ['t1', 'beta'],
        ['t2', 'Zulu'],
        ['t4', 'élan'],
        ['t3', 'élan'],
        ['same', 'Alpha'],
      ] as const) {
        await tenant(id, name);
        await unit(id, 'root', `${name} unit`);
      }
      await unit('twin-b', 't2', 'Zulu');
      await unit('twin-a', 't1', 'Zulu');
      await unit('foreign', 't1', 'not ours');
      await tenant('foreign', 'not ours');
    });

    it('ordered by name and then id, each one once, and only those of the user', async () => {
      const all = ['t4', 't1', 't3', 'same', 't2'];
      const { uid } = await service.givenUser('member', { tenantId: 'same', orgUnitId: null });
      await member(uid, all, [...all, 'twin-b']);
      const user = { uid, tenantId: 'same', orgUnitId: 'twin-a' };
      expect(await service.app.get(Memberships).of(user)).toStrictEqual({
        tenants: [
          { tenant_id: 'same', name: 'Alpha' },
          { tenant_id: 't2', name: 'Zulu' },
          { tenant_id: 't1', name: 'beta' },
          { tenant_id: 't3', name: 'élan' },
          { tenant_id: 't4', name: 'élan' },
        ],
        orgUnits: [
          { org_unit_id: 'same', tenant_id: 'root', name: 'Alpha unit' },
          { org_unit_id: 'twin-a', tenant_id: 't1', name: 'Zulu' },
          { org_unit_id: 'twin-b', tenant_id: 't2', name: 'Zulu' },
          { org_unit_id: 't2', tenant_id: 'root', name: 'Zulu unit' },
          { org_unit_id: 't1', tenant_id: 'root', name: 'beta unit' },
          { org_unit_id: 't3', tenant_id: 'root', name: 'élan unit' },
          { org_unit_id: 't4', tenant_id: 'root', name: 'élan unit' },
        ],
      });
    });

    it('with the own tenant alone for a user without memberships', async () => {
      const user = await service.givenUser('alone');
      expect(await service.app.get(Memberships).of(user)).toStrictEqual({
        tenants: [{ tenant_id: 'root', name: 'Root' }],
        orgUnits: [],
      });
    });
  });

  it('a login takes seven statements: user, success, a transaction of four, memberships', async () => {
    await service.givenUser('counted');
    const statements = countStatements(service.app.get(DataSource));
    const login = async () => expect((await service.login('counted')).status).toBe(200);
    // The first login of a process also reads from when on refresh tokens have an audience of their own.
    await login();
    expect(await statements(login)).toBe(7);
    expect(await statements(login)).toBe(7);
    const byAddress = async () => expect((await service.login('counted@example.com')).status).toBe(200);
    expect(await statements(byAddress)).toBe(7);
  });

  it.each([
    ['with a wrong password: user, failure, login_logs', 'counted-wrong', 'LOGIN_401001', 3],
    ['of a locked account: user, login_logs', 'counted-locked', 'LOGIN_401004', 2],
    ['of an unknown name: user, login_logs', 'counted-unknown', 'LOGIN_404001', 2],
  ])('a refused login reads the user once, %s', async (_case, name, code, expected) => {
    const user = code === 'LOGIN_404001' ? undefined : await service.givenUser(name);
    if (code === 'LOGIN_401004') {
      await database.affected('UPDATE users SET login_failed_count = 3, last_login_failed_time = ? WHERE uid = ?', [
        service.clock.now(),
        user!.uid,
      ]);
    }
    const statements = countStatements(service.app.get(DataSource));
    const typed = name.toUpperCase();
    const refused = async () => expect((await service.login(typed, 'wrong')).body.error_code).toBe(code);
    expect(await statements(refused)).toBe(expected);
    expect(
      await database.row('SELECT user_id, login_name, outcome FROM login_logs WHERE login_name IN (?, ?)', [
        name,
        typed,
      ]),
    ).toEqual({ user_id: user?.uid ?? null, login_name: user?.loginName ?? typed, outcome: code });
  });
});
