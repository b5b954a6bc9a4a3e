import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { ApplicationSessions } from '../../src/applications/application-sessions.repository';
import { ApplicationLogouts } from '../../src/applications/persistence/application-logout.repository';
import { LogoutTokens } from '../../src/applications/logout-tokens';
import type { Database } from '../../src/platform/database/database';
import { TokenRevoker } from '../../src/sessions/token-revoker';
import type { User } from '../../src/users/user.entity';
import { UsersRepository } from '../../src/users/users.repository';
import { tokenOf } from '../support/admin';
import { TestService } from '../support/app';
import { givenApplication, logoutRows } from '../support/applications/application-rows';
import { LogoutReceiver } from '../support/applications/logout-receiver';
import { FakeClock } from '../support/fakes';

const rounds = 20;

/** Parallel callers use two replicas in turn, each with its own connections. SQLite deployments have one replica. */
describe('one end for everything, over two replicas (ADR 0035)', () => {
  let services: [TestService, TestService];
  let receiver: LogoutReceiver;
  let wiki: string;
  let user: User;
  beforeAll(async () => {
    const clock = new FakeClock();
    const settings = { OIDC: 'on' };
    const first = await TestService.start(settings, { clock });
    const second = __DATABASE__ === 'sqlite' ? first : await TestService.start(settings, { clock, store: first.store });
    services = [first, second];
    receiver = await LogoutReceiver.start();
    wiki = await givenApplication(first, 'wiki', receiver.uri('/wiki'));
    user = await first.givenUser('racer', { password: null });
  });
  afterAll(async () => {
    if (services[1] !== services[0]) await services[1].stop({ keepStore: true });
    await services[0].stop();
    await receiver.stop();
  });

  type Class<T> = abstract new (...args: any[]) => T;
  const at = (n: number): TestService => services[n % 2]!;
  const on = <T>(type: Class<T>, n = 0): T => at(n).app.get<T>(type, { strict: false });
  async function givenSession() {
    const access = await tokenOf(services[0], user, null);
    return { access, sid: decodeJwt<{ sid: string }>(access).sid };
  }
  const begin = (sid: string, n: number, applicationId = wiki) =>
    on(ApplicationSessions, n).begin({ sid, applicationId, userId: user.uid });
  const logOut = (access: string, n: number) => at(n).post('/logout', undefined, { bearer: access });
  const revokeAll = (n: number) => at(n).database.transaction((tx) => on(TokenRevoker, n).revokeAll(tx, user.uid));
  const signedIn = (sid: string) => services[0].count('application_sessions', 'sid = ?', [sid]);

  it('a sign-in beside a log-out: no application has a session whose end nobody tells (T501)', async () => {
    const outcomes = { both: 0, refused: 0 };
    for (let round = 0; round < rounds; round++) {
      const { access, sid } = await givenSession();
      const parts = [() => begin(sid, round), () => logOut(access, round + 1)];
      if (round % 2 === 1) parts.reverse();
      await Promise.all(parts.map((run) => run()));
      expect({ sid, told: (await logoutRows(services[0], sid)).length }).toEqual({ sid, told: await signedIn(sid) });
      outcomes[(await signedIn(sid)) === 1 ? 'both' : 'refused'] += 1;
    }
    expect(outcomes.both + outcomes.refused).toBe(rounds);
  });

  it('a sign-in beside the end of all sessions: the same (T501)', async () => {
    for (let round = 0; round < rounds; round++) {
      user = (await on(UsersRepository).findByUid(user.uid))!;
      const { sid } = await givenSession();
      const parts = [() => begin(sid, round), () => revokeAll(round + 1)];
      if (round % 2 === 1) parts.reverse();
      await Promise.all(parts.map((run) => run()));
      expect({ sid, told: (await logoutRows(services[0], sid)).length }).toEqual({ sid, told: await signedIn(sid) });
      // Nobody signs in to a session that has ended.
      expect(await begin(sid, round, randomUUID())).toBe(false);
    }
  });

  it('two sign-ins of one session to one application leave one row', async () => {
    user = (await on(UsersRepository).findByUid(user.uid))!;
    const { sid } = await givenSession();
    expect(await Promise.all(Array.from({ length: 12 }, (_, n) => begin(sid, n)))).toEqual(Array(12).fill(true));
    expect(await signedIn(sid)).toBe(1);
  });

  it('a session that is ended in many ways at once is told once to each application (T502)', async () => {
    const mail = await givenApplication(services[0], 'mail');
    for (let round = 0; round < rounds / 2; round++) {
      user = (await on(UsersRepository).findByUid(user.uid))!;
      const { access, sid } = await givenSession();
      await begin(sid, 0);
      await begin(sid, 1, mail);
      await Promise.all([logOut(access, 0), revokeAll(1), logOut(access, 1), revokeAll(0)]);
      expect(new Set((await logoutRows(services[0], sid)).map((row) => row.application_id))).toEqual(
        new Set([wiki, mail]),
      );
      expect(await logoutRows(services[0], sid)).toHaveLength(2);
    }
  });

  it('an end whose row another end has just inserted finds it, and the transaction goes on (T502)', async () => {
    user = (await on(UsersRepository).findByUid(user.uid))!;
    const { sid } = await givenSession();
    await begin(sid, 0);
    const { database } = services[0];
    const logouts = on(ApplicationLogouts);
    await database.transaction(async (tx) => {
      // The statement of this transaction began before the other end committed.
      let looked = false;
      const late = Object.assign(Object.create(tx) as Database, {
        affected: async (statement: string, values: never[]) => {
          if (looked) return tx.affected(statement, values);
          looked = true;
          await tx.affected(statement, values);
          return tx.affected(statement.replace(/ AND NOT EXISTS \(.*\)\n/, '\n'), values);
        },
      });
      expect(await logouts.queue(late, { sids: [sid] })).toBe(0);
      await tx.affected('UPDATE users SET held = held + 1 WHERE uid = ?', [user.uid]);
    });
    expect(await logoutRows(services[0], sid)).toHaveLength(1);
  });

  it('two replicas send each token once, and what one has told the other does not tell again (T503)', async () => {
    user = (await on(UsersRepository).findByUid(user.uid))!;
    await Promise.all([0, 1].map((n) => on(LogoutTokens, n).sendDue()));
    receiver.seen.splice(0);
    const sids = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const { sid } = await givenSession();
        await begin(sid, 0);
        return sid;
      }),
    );
    await revokeAll(0);
    const sendAll = () => Promise.all([0, 1, 0, 1].map((n) => on(LogoutTokens, n).sendDue()));
    await sendAll();
    await sendAll();
    expect(receiver.seen.map(({ claims }) => String(claims.sid)).sort()).toEqual([...sids].sort());
    expect(await services[0].count('application_logouts', 'status = 0')).toBe(0);
  });
});
