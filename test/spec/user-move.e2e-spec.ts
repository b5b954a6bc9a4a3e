import { operatorAuthority } from '../../src/admin/authority';
import { UserAdministration } from '../../src/admin/user-administration';
import { FollowedGroups } from '../../src/groups/followed-groups';
import { Mailer } from '../../src/mail/mailer';
import { AdminClient, adminSettings, outcomeOf } from '../support/admin-client';
import { givenPasskeyRow } from '../support/admin';
import { password, TestService } from '../support/app';
import { toldChanges } from '../support/notices';
import { givenGroup } from '../support/groups';
import { givenIdentityProvider } from '../support/identity-providers';

describe('an administrator moves a user between kinds of sign-in', () => {
  let service: TestService;
  let root: AdminClient;
  beforeAll(async () => {
    service = await TestService.start(adminSettings);
    root = await AdminClient.of(service, 'root-admin');
    await givenIdentityProvider(service, { id: 'entra' });
    await givenIdentityProvider(service, { id: 'okta' });
  });
  afterAll(() => service.stop());

  let made = 0;
  const move = (uid: string, body: object) => root.send('POST', `users/${uid}/provider`, body);
  const rowOf = async (uid: string) =>
    (await service.database.rows<Record<string, unknown>>('SELECT * FROM users WHERE uid = ?', [uid]))[0]!;
  const audited = async (event: string, uid: string) =>
    (
      await service.database.rows<{ actor_id: string; detail: string }>(
        'SELECT actor_id, detail FROM audit_logs WHERE event = ? AND user_id = ? ORDER BY id',
        [event, uid],
      )
    ).map(({ actor_id, detail }) => [actor_id, JSON.parse(detail) as object]);
  const givenIdentity = (uid: string, provider: string) =>
    service.database.affected(
      `INSERT INTO external_identities (identity_provider_id, subject_hash, subject, user_id, bound_at, last_used_at)
       VALUES (?, ?, 'sub', ?, ?, ?)`,
      [provider, uid, uid, service.clock.now(), service.clock.now()],
    );

  it('to an identity provider: nothing that led into the account leads there any more, and no password is kept (T554)', async () => {
    const user = await service.givenUser('ann', { email: 'ann@example.com' });
    const { access, refresh } = await service.session('ann');
    await givenPasskeyRow(service, user.uid);
    await service.post('/forget-password', { email: 'ann@example.com' });
    const answer = await move(user.uid, { provider: 'oidc', identity_provider: 'entra', external_id: 'oid-1' });
    expect(answer.body.data).toMatchObject({
      ...{ uid: user.uid, provider: 'oidc', identity_provider: 'entra', external_id: 'oid-1' },
      ...{ password_set_at: null, passkeys: 0, sessions: 0, devices: 0 },
    });
    expect(await rowOf(user.uid)).toMatchObject({ password: null, salt: null });
    expect(await service.count('user_change_pwd_logs', 'user_id = ?', [user.uid])).toBe(0);
    expect(await service.count('user_change_password_request', 'user_id = ? AND status = 0', [user.uid])).toBe(0);
    for (const bearer of [access, refresh]) {
      expect((await service.post(bearer === access ? '/logout' : '/refresh', {}, { bearer })).status).toBe(401);
    }
    expect((await service.login('ann', password)).body.error_code).toBe('LOGIN_401001');
    expect(await audited('USER_PROVIDER_CHANGED', user.uid)).toEqual([
      [
        root.uid,
        {
          ...{ from: 'password', from_identity_provider: null, to: 'oidc', to_identity_provider: 'entra', passkeys: 1 },
        },
      ],
    ]);
    expect(await service.count('mail_outbox', "user_id = ? AND kind = 'account-changed'", [user.uid])).toBe(1);
  });

  it('a password that a command has hashed meanwhile comes too late: it is refused, and no hash, audit row or mail is left (T554)', async () => {
    const read = await service.givenUser('abe', { email: 'abe@example.com' });
    await move(read.uid, { provider: 'oidc', identity_provider: 'entra' });
    const set = service.app.get(UserAdministration).setPassword(operatorAuthority, read, 'Another-Password-9', {
      ...{ temporary: false, rules: 'policy' },
    });
    await expect(set).rejects.toThrow('the user has no password in this service');
    expect(await rowOf(read.uid)).toMatchObject({ password: null, credential_version: 1 });
    expect(await service.count('user_change_pwd_logs', 'user_id = ?', [read.uid])).toBe(0);
    expect(await audited('USER_PASSWORD_SET_BY_OPERATOR', read.uid)).toEqual([]);
    expect(await toldChanges(service, read)).toEqual(['signInMoved']);
  });

  it('to another provider, or to the same one again: the former binding is gone', async () => {
    const user = await service.givenUser('bea', { provider: 'oidc', identityProviderId: 'entra', password: null });
    for (const provider of ['okta', 'okta']) {
      await givenIdentity(user.uid, provider === 'okta' ? 'entra' : 'okta');
      const answer = await move(user.uid, { provider: 'oidc', identity_provider: provider });
      expect(answer.body.data).toMatchObject({ identity_provider: provider, external_id: null });
      expect(await service.count('external_identities', 'user_id = ?', [user.uid])).toBe(0);
    }
  });

  it('memberships that followed the former place end, audited, and a follow of an earlier sign-in brings none back', async () => {
    const user = await service.givenUser('ben', { provider: 'oidc', identityProviderId: 'entra', password: null });
    const given = (source: string, ownerId: string | null = null) =>
      givenGroup(service, `${source} of ben`, { source, ownerId, members: [user.uid] });
    const [own, scim] = [await given('admin'), await given('scim')];
    const followed = [await given('provider', 'entra'), await given('directory')];
    const changed = () => service.count('user_groups', "version > 0 AND name LIKE '% of ben'");
    expect(await changed()).toBe(0);
    await move(user.uid, { provider: 'oidc', identity_provider: 'okta' });
    expect(await changed()).toBe(followed.length);
    const place = { source: 'provider', ownerId: 'entra' } as const;
    const record = () => Promise.resolve();
    await service.database.transaction((tx) =>
      service.app.get(FollowedGroups).follow({ tx, record }, user, place, ['provider of ben']),
    );
    const left = 'SELECT group_id AS id FROM user_group_members WHERE user_id = ?';
    expect(new Set((await service.database.rows<{ id: string }>(left, [user.uid])).map(({ id }) => id))).toEqual(
      new Set([own, scim]),
    );
    expect(new Set(await audited('GROUP_MEMBER_REMOVED', user.uid))).toEqual(
      new Set(followed.map((group) => [root.uid, { group }])),
    );
  });

  it('to a password: the user is invited by mail, and gets none without an address or while disabled', async () => {
    const given = (name: string, more: object) =>
      service.givenUser(name, {
        provider: 'oidc',
        identityProviderId: 'entra',
        externalId: name,
        password: null,
        ...more,
      });
    const [cai, dan, eve] = [
      await given('cai', { email: 'cai@example.com' }),
      await given('dan', { email: null }),
      await given('eve', { email: 'eve@example.com', status: -1 }),
    ];
    for (const user of [cai, dan, eve]) {
      const answer = await move(user.uid, { provider: 'password', external_id: null });
      expect(answer.body.data).toMatchObject({ provider: 'password', identity_provider: null, external_id: null });
    }
    const invited = async (uid: string) => [
      await service.count('mail_outbox', "user_id = ? AND kind = 'reset-link'", [uid]),
      (await audited('USER_INVITED', uid)).length,
    ];
    expect([await invited(cai.uid), await invited(dan.uid), await invited(eve.uid)]).toEqual([
      [1, 1],
      [0, 0],
      [0, 0],
    ]);
  });

  it.each([
    [{ provider: 'oidc' }, 'identity_provider'],
    [{ provider: 'oidc', identity_provider: 'nowhere' }, 'identity_provider'],
    [{ provider: 'password', identity_provider: 'entra' }, 'identity_provider'],
    [{ provider: 'password' }, 'provider'],
    [{ provider: 'ldap' }, 'provider'],
    [{ provider: 'auto' }, 'provider'],
    [{}, 'provider'],
    [{ provider: 'oidc', identity_provider: 'entra', external_id: 7 }, 'external_id'],
    [{ provider: 'oidc', identity_provider: 'entra', external_id: 'a\nb' }, 'external_id'],
    [{ provider: 'oidc', identity_provider: 'entra', uid: 'x' }, 'uid'],
  ])('a wrong field (%#) is COMMON_400001 and changes nothing', async (body, field) => {
    const user = await service.givenUser(`fay-${++made}`);
    const before = await rowOf(user.uid);
    const { body: answer } = await move(user.uid, body);
    expect([answer.error_code, Object.keys(answer.data.fields as object)]).toEqual(['COMMON_400001', [field]]);
    const { held, ...after } = await rowOf(user.uid);
    expect({ ...after, held: before.held }).toEqual(before);
    expect(held).toBeDefined();
  });

  it('nobody moves the own account, and an unknown user is USER_404001', async () => {
    const place = { provider: 'oidc', identity_provider: 'entra' };
    expect(outcomeOf(await move(root.uid, place))).toBe('USER_409002');
    expect(outcomeOf(await move('nobody', place))).toBe('USER_404001');
  });

  it('when the mail cannot be queued, nothing has changed', async () => {
    const user = await service.givenUser('gil', { email: 'gil@example.com' });
    const before = await rowOf(user.uid);
    const failing = jest.spyOn(service.app.get(Mailer, { strict: false }), 'queueAccountChanged');
    failing.mockRejectedValueOnce(new Error('no room'));
    expect(outcomeOf(await move(user.uid, { provider: 'oidc', identity_provider: 'entra' }))).toBe('COMMON_500001');
    failing.mockRestore();
    expect(await rowOf(user.uid)).toEqual(before);
  });
});
