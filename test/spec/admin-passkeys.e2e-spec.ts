import { type MailKind, openMail, type QueuedMail } from '../../src/mail/outbox/mail-payload';
import { KeyRing } from '../../src/platform/crypto/key-ring';
import { givenCaller, givenPasskeyRow, startAdministration } from '../support/admin';
import { outcomeOf } from '../support/admin-client';
import { TestService } from '../support/app';
import { PasskeyClient, passkeySettings } from '../support/passkeys';
import { foreignId } from '../support/routes';

describe('the passkeys of a user, for administrators', () => {
  let client: PasskeyClient;
  let root: Awaited<ReturnType<typeof givenCaller>>;
  beforeAll(async () => {
    client = new PasskeyClient(await startAdministration(passkeySettings));
    root = await givenCaller(client.service, { isAdmin: true });
  });
  afterAll(() => client.service.stop());

  const list = async (uid: string) =>
    (await client.service.get(`/admin/users/${uid}/passkeys`, { bearer: root.bearer })).body.data.items;
  const remove = (uid: string, id: string) =>
    client.service.send('DELETE', `/admin/users/${uid}/passkeys/${id}`, undefined, { bearer: root.bearer });
  const removals = (uid: string) =>
    client.service.database.rows<Record<string, unknown>>(
      "SELECT actor_id, ip, request_id, detail FROM audit_logs WHERE user_id = ? AND event = 'PASSKEY_REMOVED'",
      [uid],
    );
  const mailsTo = async (address: string | null, kind: MailKind): Promise<QueuedMail[]> => {
    const keys = client.service.app.get(KeyRing);
    const rows = await client.service.database.rows<{ payload: string }>(
      'SELECT payload FROM mail_outbox WHERE kind = ? AND payload IS NOT NULL',
      [kind],
    );
    return rows.map(({ payload }) => openMail(keys, payload)).filter(({ to }) => to === address);
  };

  it('are shown as the owner sees them, without the credential and its key', async () => {
    const { user, access, authenticator, id } = await client.givenPasskey();
    expect((await client.logIn(authenticator)).status).toBe(200);
    const items = await list(user.uid);
    expect(items).toEqual(await client.list(access));
    expect(items).toEqual([
      { id, name: 'Phone', created_at: expect.any(String), last_used_at: expect.any(String), backed_up: false },
    ]);
  });

  it('are shown before a promotion, whose answer counts them, because they sign in as an administrator afterwards', async () => {
    const { user, authenticator, id } = await client.givenPasskey();
    expect(await list(user.uid)).toMatchObject([{ id }]);
    const change = { is_admin: true };
    const { bearer } = root;
    const { body } = await client.service.send('PATCH', `/admin/users/${user.uid}`, change, { bearer });
    expect(body.data).toMatchObject({ is_admin: true, passkeys: 1, sessions: 0 });
    expect((await client.logIn(authenticator)).status).toBe(200);
    expect(outcomeOf(await remove(user.uid, id))).toBe('success');
    expect(outcomeOf(await client.logIn(authenticator))).toBe('PASSKEY_401001');
  });

  it('one that is removed signs in no more, the audit names the administrator, and a mail tells the owner', async () => {
    const { user, access, authenticator, id } = await client.givenPasskey();
    await client.service.database.affected("UPDATE users SET nickname = 'Win at casino.example' WHERE uid = ?", [
      user.uid,
    ]);
    const answer = await remove(user.uid, id);
    expect(answer).toMatchObject({ status: 200, body: { data: { result: true } } });
    expect(await list(user.uid)).toEqual([]);
    expect(outcomeOf(await client.logIn(authenticator))).toBe('PASSKEY_401001');
    const [audit, ...others] = await removals(user.uid);
    expect(others).toEqual([]);
    expect(audit).toMatchObject({ actor_id: root.user.uid, ip: '127.0.0.1' });
    expect(String(audit!.request_id)).toBe(answer.headers['x-request-id']);
    expect(JSON.parse(String(audit!.detail))).toEqual({ passkey: id });
    const mails = await mailsTo(user.email, 'passkey-changed');
    // Both were queued at the same moment, so no order of theirs is promised.
    expect(mails).toHaveLength(2);
    expect(mails).toContainEqual(expect.objectContaining({ added: true }));
    expect(mails).toContainEqual(expect.objectContaining({ added: false, nickname: user.loginName, ip: '127.0.0.1' }));
    // The session of the owner goes on: `revoke-sessions` ends it.
    expect((await client.service.get('/user/me', { bearer: access })).status).toBe(200);
  });

  it('the passkey of another user is USER_404001, like one that does not exist, and stays (T300)', async () => {
    const { user, id } = await client.givenPasskey();
    const other = await client.givenPasskey();
    for (const wrong of [other.id, foreignId, id.toUpperCase(), `${id}%20`, 'x']) {
      expect([wrong, outcomeOf(await remove(user.uid, wrong))]).toEqual([wrong, 'USER_404001']);
    }
    expect([await list(user.uid), await list(other.user.uid)]).toMatchObject([[{ id }], [{ id: other.id }]]);
    expect(await removals(user.uid)).toEqual([]);
    expect(await mailsTo(user.email, 'passkey-changed')).toHaveLength(1);
  });

  it('a user without an address has no mail, and PASSKEYS=off shows and removes what is left', async () => {
    const { store, clock } = client.service;
    const off = await TestService.start({ ADMIN_API: 'on', PASSKEYS: 'off' }, { store, clock });
    try {
      const { uid } = await off.givenUser('silent', { email: null, password: null });
      const [id, mails] = [await givenPasskeyRow(off, uid), await off.count('mail_outbox')];
      const { bearer } = await givenCaller(off, { isAdmin: true });
      const path = `/admin/users/${uid}/passkeys`;
      expect((await off.get(path, { bearer })).body.data.items).toMatchObject([{ id }]);
      expect(outcomeOf(await off.send('DELETE', `${path}/${id}`, undefined, { bearer }))).toBe('success');
      expect((await off.get(path, { bearer })).body.data).toEqual({ items: [], next: null });
      expect(await off.count('mail_outbox')).toBe(mails);
    } finally {
      await off.stop({ keepStore: true });
    }
  });
});
