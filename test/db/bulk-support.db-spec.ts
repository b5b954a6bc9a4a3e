import { operatorAuthority } from '../../src/admin/authority';
import { BulkSupport } from '../../src/admin/bulk-support';
import { UserAdministration } from '../../src/admin/user-administration';
import { UserErasure } from '../../src/admin/user-erasure';
import { UserSupport } from '../../src/admin/user-support';
import { SecondFactor } from '../../src/users/second-factor';
import type { User } from '../../src/users/user.entity';
import { UserSelection } from '../../src/users/user-selection';
import { startAdministration } from '../support/admin';
import { TestService } from '../support/app';
import { password } from '../support/settings';
import { codeOf, goodPassword } from '../support/reset';

/** What operators do for one user and for many, with the users beside it. On MariaDB these are at another replica. */
describe('the support of users while they sign in', () => {
  let service: TestService;
  let other: TestService;

  beforeAll(async () => {
    service = await startAdministration({ HASH_QUEUE_MAX_WAIT_MS: '60000' });
    const { store, clock } = service;
    const settings = { HASH_QUEUE_MAX_WAIT_MS: '60000' };
    other = __DATABASE__ === 'sqlite' ? service : await TestService.start(settings, { store, clock });
  });
  afterAll(async () => {
    if (other !== service) await other.stop({ keepStore: true });
    await service.stop();
  });
  afterEach(() => jest.restoreAllMocks());

  const demand = (uid: string) => service.app.get(UserSupport).requirePasswordChange(operatorAuthority, uid);
  const demanded = async (uid: string) => Number((await service.userRow(uid)).must_change_password) === 1;
  const change = (bearer: string, next: string) =>
    other.post(
      '/user/change-password',
      { current_password: password, password: next, confirm_password: next },
      { bearer },
    );
  const eventsOf = async (uid: string) => {
    const rows = await service.database.rows<{ event: string; detail: string | null }>(
      "SELECT event, detail FROM audit_logs WHERE user_id = ? AND event LIKE 'USER_PASSWORD_CHANGE%' ORDER BY id",
      [uid],
    );
    return rows.map(({ event, detail }) => ({ event, detail: JSON.parse(detail ?? 'null') as unknown }));
  };

  describe('a demanded change of the password', () => {
    it('beside logins: a login has a session or asks for the change, and every login afterwards asks', async () => {
      for (let round = 0; round < 4; round++) {
        const { uid } = await service.givenUser(`signing-in-${round}`);
        const logIn = () => other.login(`signing-in-${round}`);
        const answers = await Promise.all([logIn(), logIn(), demand(uid), logIn()]);
        for (const answer of answers.filter((one) => one !== undefined)) expect(answer.status).toBe(200);
        expect((await logIn()).body.data).toMatchObject({ change_password: true, access_token: null });
        expect(await demanded(uid)).toBe(true);
      }
    });

    it('beside a change of the password: the commit that comes second decides, and the audit has the same order', async () => {
      for (let round = 0; round < 6; round++) {
        const name = `changing-${round}`;
        const { uid } = await service.givenUser(name);
        const { access } = await service.session(name);
        const [answer] = await Promise.all([change(access, goodPassword(round)), demand(uid)]);
        expect(codeOf(answer)).toBe('success');
        const events = await eventsOf(uid);
        expect(events.map(({ event }) => event).sort()).toEqual([
          'USER_PASSWORD_CHANGED',
          'USER_PASSWORD_CHANGE_REQUIRED',
        ]);
        const isLast = events.at(-1)!.event === 'USER_PASSWORD_CHANGE_REQUIRED';
        expect(await demanded(uid)).toBe(isLast);
        const next = await other.login(name, goodPassword(round));
        expect(next.body.data).toMatchObject({ change_password: isLast });
      }
    });

    it('of two at once, one changes the account; both leave an audit row', async () => {
      const { uid } = await service.givenUser('demanded-twice');
      await Promise.all([demand(uid), demand(uid)]);
      const details = (await eventsOf(uid)).map(({ detail }) => detail);
      expect(details).toEqual([{ changed: true }, { changed: false }]);
    });

    it('whose audit row cannot be written changes nothing', async () => {
      const { uid } = await service.givenUser('not-audited');
      await service.database.affected('ALTER TABLE audit_logs RENAME TO audit_logs_away');
      await expect(demand(uid)).rejects.toThrow();
      await service.database.affected('ALTER TABLE audit_logs_away RENAME TO audit_logs');
      expect(await demanded(uid)).toBe(false);
    });
  });

  describe('of many users', () => {
    const bulk = () => service.app.get(BulkSupport);
    const run = async (...[what, tenantId]: Parameters<BulkSupport['count']>) => {
      const report = { users: 0 };
      await bulk().run(what, tenantId, { report, progress: () => undefined, signal: new AbortController().signal });
      return report.users;
    };
    const givenAuthenticator = (uid: string) =>
      service.database.affected("UPDATE users SET topt_secret = 'sealed', mfa_type = 'totp' WHERE uid = ?", [uid]);
    const audited = (event: string, uid: string) =>
      service.count('audit_logs', 'event = ? AND user_id = ?', [event, uid]);

    it('the authenticators of one tenant are removed, each with its audit row, and a second run does the rest only', async () => {
      const users: User[] = [];
      for (const name of ['ann', 'bob', 'cid'])
        users.push(await service.givenUser(`acme-${name}`, { tenantId: 'acme' }));
      const [ann, bob, cid] = users as [User, User, User];
      const elsewhere = await service.givenUser('elsewhere', { tenantId: 'other' });
      for (const { uid } of [ann, bob, elsewhere]) await givenAuthenticator(uid);
      expect(await bulk().count('resetSecondFactor', 'acme')).toBe(2);
      expect(await run('resetSecondFactor', 'acme')).toBe(2);
      expect(await service.userRow(ann.uid)).toMatchObject({ topt_secret: null, mfa_type: 'email' });
      expect(await service.userRow(elsewhere.uid)).toMatchObject({ mfa_type: 'totp' });
      expect(await Promise.all(users.map(({ uid }) => audited('TOTP_RESET', uid)))).toEqual([1, 1, 0]);
      await givenAuthenticator(cid.uid);
      expect(await run('resetSecondFactor', undefined)).toBe(2);
      expect(await Promise.all(users.map(({ uid }) => audited('TOTP_RESET', uid)))).toEqual([1, 1, 1]);
      await expect(bulk().count('resetSecondFactor', 'acmee')).rejects.toThrow('there is no tenant "acmee"');
    });

    it('a user who is deleted or has lost the authenticator after the page was read is left alone', async () => {
      const users: User[] = [];
      for (const name of ['lost', 'gone', 'left']) users.push(await service.givenUser(`race-${name}`));
      for (const { uid } of users) await givenAuthenticator(uid);
      const [lost, gone, left] = users as [User, User, User];
      const selection = service.app.get(UserSelection);
      const next = selection.next.bind(selection);
      jest.spyOn(selection, 'next').mockImplementationOnce(async (...given: Parameters<typeof next>) => {
        const found = await next(...given);
        await other.database.transaction((tx) => other.app.get(SecondFactor).removeSecret(tx, lost.uid));
        await service.app.get(UserErasure).erase(operatorAuthority, gone.uid);
        return found;
      });
      expect(await run('resetSecondFactor', undefined)).toBe(1);
      expect(await Promise.all([lost, gone, left].map(({ uid }) => audited('TOTP_RESET', uid)))).toEqual([0, 0, 1]);
    });

    it('a change is demanded of everybody with a password here, and of no directory user', async () => {
      const local = await service.givenUser('has-a-password', { tenantId: 'other' });
      const directory = await service.givenUser('has-none', { tenantId: 'other', provider: 'ldap', password: null });
      await run('requirePasswordChange', 'other');
      expect([await demanded(local.uid), await demanded(directory.uid)]).toEqual([true, false]);
      expect(await run('requirePasswordChange', 'other')).toBe(0);
      const found = await service.app.get(UserAdministration).find('has-none');
      await expect(demand(found.uid)).rejects.toThrow('a directory user has no password in this service');
    });

    it('a run that is stopped ends between two users', async () => {
      for (const name of ['one', 'two', 'three']) {
        const { uid } = await service.givenUser(`stopped-${name}`, { tenantId: 'acme' });
        await givenAuthenticator(uid);
      }
      const [report, stop] = [{ users: 0 }, new AbortController()];
      const support = service.app.get(UserSupport);
      const reset = support.steps.resetSecondFactor;
      jest.spyOn(support.steps, 'resetSecondFactor').mockImplementationOnce(async (...given) => {
        stop.abort();
        return reset(...given);
      });
      await bulk().run('resetSecondFactor', 'acme', { report, progress: () => undefined, signal: stop.signal });
      expect(report).toEqual({ users: 1 });
      expect(await bulk().count('resetSecondFactor', 'acme')).toBe(2);
    });
  });
});
