import { SessionTraces } from '../../src/sessions/session-traces';
import type { User } from '../../src/users/user.entity';
import { MfaClient } from '../support/mfa';

describe('what sessions keep of a user who is deleted', () => {
  let mfa: MfaClient;
  let traces: SessionTraces;
  beforeAll(async () => {
    mfa = await MfaClient.start({ MFA_TRUSTED_DEVICE_DAYS: '30', NEW_SIGN_IN_NOTICE: 'true' });
    traces = mfa.service.app.get(SessionTraces);
  });
  afterAll(() => mfa.stop());

  /** A user with a session, a trusted device, a known browser and a pending login. */
  async function given(name: string): Promise<User> {
    const user = await mfa.givenUser(name);
    const { uid, mfaToken } = await mfa.logIn(name);
    const code = await mfa.lastCode(user);
    await mfa.verify(uid, 'email', code, { mfa_token: mfaToken, trust_device: true });
    mfa.service.clock.advanceSeconds(61);
    await mfa.logIn(name);
    return user;
  }
  const count = (table: string, where: string, { uid }: User) => mfa.service.count(table, where, [uid]);
  const rowsOf = async (user: User) => ({
    devices: await count('trusted_devices', 'user_id = ?', user),
    pendingLogins: await count('pending_logins', 'user_id = ?', user),
    browsers: await count('known_browsers', 'user_id = ?', user),
    tokens: await count('login_tokens', 'user_identity = ?', user),
    clients: await count('login_tokens', 'user_identity = ? AND (ip IS NOT NULL OR user_agent IS NOT NULL)', user),
  });
  const all = { devices: 1, pendingLogins: 1, browsers: 1, tokens: 2, clients: 1 };

  it('the erasure leaves the rows of the tokens without the client, and the rows of other users as they are', async () => {
    const [erased, other] = [await given('erased'), await given('other')];
    expect([await rowsOf(erased), await rowsOf(other)]).toEqual([all, all]);
    await mfa.service.database.transaction((tx) => traces.erase(tx, erased.uid));
    expect(await rowsOf(erased)).toEqual({ devices: 0, pendingLogins: 0, browsers: 0, tokens: 2, clients: 0 });
    expect(await rowsOf(other)).toEqual(all);
  });

  it('the erasure of a transaction that is rolled back erases nothing', async () => {
    const user = await given('kept');
    const erasure = mfa.service.database.transaction(async (tx) => {
      await traces.erase(tx, user.uid);
      throw new Error('undone');
    });
    await expect(erasure).rejects.toThrow('undone');
    expect(await rowsOf(user)).toEqual(all);
  });

  it('what a login under way has written after the erasure is erased when the deletion is settled', async () => {
    const [settled, other] = [await given('settled'), await given('beside')];
    await traces.settle(settled.uid);
    expect(await rowsOf(settled)).toEqual({ ...all, browsers: 0, clients: 0 });
    expect(await rowsOf(other)).toEqual(all);
  });
});
