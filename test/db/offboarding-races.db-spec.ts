import { operatorAuthority } from '../../src/admin/authority';
import { UserOffboarding } from '../../src/admin/user-offboarding';
import { UserChanges } from '../../src/admin/user-changes';
import { OffboardingWorker } from '../../src/offboarding/offboarding-worker';
import { UsersRepository } from '../../src/users/users.repository';
import { tokenOf } from '../support/admin';
import { TestService } from '../support/app';
import { FakeClock } from '../support/fakes';
import {
  askForTokens,
  exchange,
  givenApplication,
  type GivenApplication,
  OpenIdBrowser,
  openIdSettings,
} from '../support/openid';

/** Parallel callers use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('races of an off-boarding, over two replicas (ADR 0039)', () => {
  let services: [TestService, TestService];
  let application: GivenApplication;
  beforeAll(async () => {
    const clock = new FakeClock();
    const settings = { ...openIdSettings, ADMIN_API: 'on', RATE_LIMIT: 'off' };
    const first = await TestService.start(settings, { clock });
    const second = __DATABASE__ === 'sqlite' ? first : await TestService.start(settings, { clock, store: first.store });
    services = [first, second];
    application = await givenApplication(first);
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
  });

  const at = (n: number): TestService => services[n % 2]!;
  const offboard = (uid: string, n: number) => at(n).app.get(UserOffboarding).offboard(operatorAuthority, uid, 'cli');
  const restore = async (uid: string) => {
    await at(0).app.get(UserChanges).change(operatorAuthority, uid, { status: 1 });
    at(0).clock.advanceSeconds(1);
  };
  const isDead = async (access: string) => (await at(1).get('/user/me', { bearer: access })).status === 401;
  /** In both orders, so that each one is often the first. */
  const beside = async <T>(round: number, other: () => Promise<T>, uid: string): Promise<T> => {
    if (round % 2 === 0) return (await Promise.all([other(), offboard(uid, round + 1)]))[0];
    return (await Promise.all([offboard(uid, round + 1), other()]))[1];
  };

  it('beside 100 refreshes: no token lives, whichever comes first (T592)', async () => {
    const { uid } = await at(0).givenUser('refresher', { password: null });
    let refreshed = 0;
    for (let round = 0; round < 100; round++) {
      const user = (await at(0).app.get(UsersRepository).findByUid(uid))!;
      const access = await tokenOf(at(0), user, null);
      const answer = await beside(round, () => at(round).post('/refresh', undefined, { bearer: access }), uid);
      expect(await isDead(access)).toBe(true);
      if (answer.status === 200) {
        refreshed += 1;
        expect(await isDead(answer.body.data.access_token as string)).toBe(true);
      }
      await restore(uid);
    }
    expect(refreshed).toBeLessThanOrEqual(100);
    // 100 records, and each of them was undone.
    expect(await at(0).count('offboardings', 'user_id = ? AND restored_at IS NOT NULL', [uid])).toBe(100);
  });

  it('beside the exchange of a code at an application: no token lives, also after the person is back (T592)', async () => {
    for (let round = 0; round < 8; round++) {
      const name = `exchanger${round}`;
      const { uid } = await at(0).givenUser(name);
      const { access } = await at(0).session(name);
      const authorization = await new OpenIdBrowser(at(0)).signIn(application, access);
      const answer = await beside(round, () => exchange(at(round), application, authorization), uid);
      await restore(uid);
      if (answer.status !== 200) continue;
      const { access_token: token, refresh_token: refresh } = answer.body as Record<string, string>;
      expect((await at(1).get('/oidc/me', { bearer: String(token) })).status).toBe(401);
      const again = { grant_type: 'refresh_token', refresh_token: String(refresh) };
      expect((await askForTokens(at(1), application, again)).body.error).toBe('invalid_grant');
    }
  });

  it('beside a sign-in: no session is left (T592)', async () => {
    const { uid } = await at(0).givenUser('signer');
    for (let round = 0; round < 20; round++) {
      const answer = await beside(round, () => at(round).login('signer'), uid);
      if (answer.status === 200) expect(await isDead(answer.body.data.access_token as string)).toBe(true);
      else expect(answer.status).toBe(401);
      await restore(uid);
    }
  });

  it('several at once leave one record and one notice', async () => {
    for (let round = 0; round < 10; round++) {
      const { uid } = await at(0).givenUser(`twice${round}`, { password: null });
      const ids = await Promise.all([0, 1, 0, 1].map(async (n) => (await offboard(uid, n))[0]?.id));
      expect(new Set(ids).size).toBe(1);
      expect(await at(0).count('offboardings', 'user_id = ?', [uid])).toBe(1);
      expect(await at(0).count('audit_logs', "event = 'USER_OFFBOARDING_STARTED' AND user_id = ?", [uid])).toBe(1);
      expect(await at(0).count('mail_outbox', 'user_id = ?', [uid])).toBe(1);
    }
  });

  it('replicas that see the end at once write one event (T593)', async () => {
    const uids: string[] = [];
    for (let n = 0; n < 20; n++) {
      const { uid } = await at(0).givenUser(`ended${n}`, { password: null });
      await offboard(uid, n);
      uids.push(uid);
    }
    at(0).clock.advanceSeconds(120);
    await Promise.all([0, 1].map((n) => at(n).app.get(OffboardingWorker).look()));
    const rows = await at(0).database.rows<{ n: number }>(
      `SELECT COUNT(*) AS n FROM audit_logs WHERE event = 'USER_OFFBOARDED' AND user_id IN (${uids.map(() => '?').join()})
       GROUP BY user_id`,
      uids,
    );
    expect(rows.map(({ n }) => Number(n))).toEqual(Array<number>(20).fill(1));
    expect(await at(0).count('offboardings', 'status = 0')).toBe(0);
  });
});
