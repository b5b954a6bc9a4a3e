import type { User } from '../../src/users/user.entity';
import { givenCaller, startAdministration, tokenOf } from '../support/admin';
import { TestService } from '../support/app';
import { queuedMails, toldChanges } from '../support/notices';
import { codeOf } from '../support/reset';

/** docs/spec/extensions.md#foreign-changes. SQLite deployments have one replica. */
describe('two administrators who make the same change at once', () => {
  let replicas: TestService[];
  let admins: User[];
  let users = 0;

  beforeAll(async () => {
    const service = await startAdministration();
    const { store, clock } = service;
    replicas = [
      service,
      __DATABASE__ === 'sqlite' ? service : await TestService.start({ ADMIN_API: 'on' }, { store, clock }),
    ];
    admins = [
      (await givenCaller(service, { isAdmin: true })).user,
      (await givenCaller(service, { isAdmin: true })).user,
    ];
  });
  afterAll(async () => {
    const [service, other] = replicas;
    if (other !== service) await other!.stop({ keepStore: true });
    await service!.stop();
  });

  const given = (more: object = {}) =>
    replicas[0]!.givenUser(`contested${++users}`, { password: null, mfaType: 'totp', ...more });
  const both = async (method: 'PATCH' | 'POST', path: string, body: object) => {
    const answers = replicas.map(async (replica, i) =>
      replica.send(method, path, body, { bearer: await tokenOf(replica, admins[i]!) }),
    );
    expect((await Promise.all(answers)).map(codeOf)).toEqual(['success', 'success']);
  };

  it.each<[string, 'PATCH' | 'POST', string, object]>([
    ['disabled', 'PATCH', '', { status: -1 }],
    ['adminGiven', 'PATCH', '', { is_admin: true }],
    ['secondFactorChanged', 'PATCH', '', { mfa_type: 'email' }],
    ['secondFactorReset', 'POST', '/reset-second-factor', {}],
    ['passwordChangeRequired', 'POST', '/require-password-change', {}],
  ])('%s: both are answered, and the owner gets one mail', async (change, method, action, body) => {
    for (let round = 0; round < 5; round++) {
      const user = await given();
      await both(method, `/admin/users/${user.uid}${action}`, body);
      expect(await toldChanges(replicas[0]!, user)).toEqual([change]);
    }
  });

  it('the address: each of the two addresses gets one mail', async () => {
    for (let round = 0; round < 5; round++) {
      const user = await given();
      const email = `${user.loginName}@new.example`;
      await both('PATCH', `/admin/users/${user.uid}`, { email });
      const mails = await queuedMails(replicas[0]!, user, 'account-changed');
      expect(mails.map(({ to }) => to).sort()).toEqual([user.email, email].sort());
    }
  });
});
