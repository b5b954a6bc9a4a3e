import { setTimeout as pause } from 'node:timers/promises';
import { mailStatus } from '../../src/mail/mail-status';
import { Fleet, type Reply } from '../support/fleet';
import { Mailboxes } from '../support/mail/mailboxes';
import { MixedLoad } from '../support/mixed-load';
import { eventually } from '../support/servers/eventually';
import { MariaDb } from '../support/servers/mariadb';
import { Redis } from '../support/servers/redis';
import { Smtp } from '../support/servers/smtp';
import { boundedAnswerMs, realTimeLimits } from '../support/settings';

const people = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay'];

const mailSettings = {
  MFA_REQUIRED: 'true',
  // As short as possible, so that users need not wait long for the next mail.
  OTP_COOLDOWN_SECONDS: '1',
  RESET_REQUEST_THROTTLE_SECONDS: '1',
};

/**
 * Compares the answers with the tables. A request that was in flight when its process was killed may or may not have
 * written its rows: `lost` is the number of these requests.
 */
async function assertConsistent(fleet: Fleet, load: MixedLoad, lost: number): Promise<void> {
  for (const token of load.revoked.slice(-40)) {
    const path = [...load.revoked].indexOf(token) % 2 === 0 ? '/user/me' : '/logout';
    const reply = await fleet.send(path, { bearer: token, ...(path === '/logout' ? { body: {} } : {}) });
    expect(reply.status).toBe(401);
  }
  const written = await fleet.rows(
    `SELECT u.login_name AS name, COUNT(*) AS n FROM login_logs l JOIN users u ON u.uid = l.user_id
     WHERE l.outcome = 'LOGIN_401001' GROUP BY u.login_name`,
  );
  const told = [...load.mistyped.values()].reduce((sum, n) => sum + n, 0);
  const counted = written.reduce((sum, { n }) => sum + Number(n), 0);
  expect(counted).toBeGreaterThanOrEqual(told);
  expect(counted).toBeLessThanOrEqual(told + lost);
  // Each session has one refresh token and at least one access token, and each successful login has one session.
  expect(
    await fleet.rows(
      `SELECT sid FROM login_tokens GROUP BY sid
       HAVING SUM(token_type = 'refresh') <> 1 OR SUM(token_type = 'access') < 1`,
    ),
  ).toEqual([]);
  const [sessions] = await fleet.rows('SELECT COUNT(DISTINCT sid) AS n FROM login_tokens');
  const [successes] = await fleet.rows(`SELECT COUNT(*) AS n FROM login_logs WHERE outcome = 'success'`);
  expect(sessions!.n).toBe(successes!.n);
}

/** Replaces the processes one after the other, as a cluster does: the new one starts first. */
async function restartEach(fleet: Fleet): Promise<void> {
  for (const leaving of [...fleet.services]) {
    await fleet.admit(await fleet.launch());
    expect(await fleet.retire(leaving)).toEqual([{ code: 0, signal: null }]);
  }
}

/** Three replicas behind nginx, as in a cluster. The client never retries, so every interruption is a failure. */
describe('replicas that come and go', () => {
  let fleet: Fleet;

  beforeAll(async () => {
    fleet = await Fleet.start({}, 3);
    for (const name of people) await fleet.givenUser(name);
  });
  afterAll(() => fleet?.stop());

  it('three processes that start together on an empty database migrate it once', async () => {
    const run = await fleet.rows('SELECT name FROM migrations');
    expect(run.length).toBeGreaterThan(0);
    expect(new Set(run.map(({ name }) => name as string)).size).toBe(run.length);
    for (const { lines } of fleet.services) expect(lines.filter((line) => line.includes('"level":50'))).toEqual([]);
  });

  it('T251 no request fails during a rolling restart under mixed load', async () => {
    const load = new MixedLoad(fleet, people);
    await load.more(50);
    await restartEach(fleet);
    await load.more(50);
    await load.stop();
    expect(load.failures).toEqual([]);
    await assertConsistent(fleet, load, 0);
    await fleet.rows('DELETE FROM login_tokens');
    await fleet.rows('DELETE FROM login_logs');
  });

  it('T250 when one replica is killed under load, only its requests in flight fail', async () => {
    const load = new MixedLoad(fleet, people);
    await load.more(100);
    const [victim] = fleet.services.splice(0, 1);
    await victim!.kill();
    const dead = performance.now();
    await load.more(200);
    await load.stop();
    // Each user has one request in flight.
    expect(load.failures.length).toBeLessThanOrEqual(people.length);
    for (const { reply, at } of load.failures) {
      expect(reply.status).toBe(502);
      // The failed request was sent before the process was killed.
      expect(at - reply.ms).toBeLessThan(dead);
    }
    await assertConsistent(fleet, load, load.failures.length);
    await fleet.admit(await fleet.launch());
    for (const name of people) expect((await fleet.login(name)).status).toBe(200);
  });
});

describe('replicas that come and go while users wait for mail', () => {
  it('T251 no request for codes, links and notices fails, and each mail arrives once', async () => {
    const smtp = await Smtp.start();
    const fleet = await Fleet.start({ ...mailSettings, SMTP_URL: smtp.url });
    try {
      for (const name of people) await fleet.givenUser(name);
      const mailboxes = new Mailboxes(smtp);
      const load = new MixedLoad(fleet, people, mailboxes);
      await load.more(50);
      await restartEach(fleet);
      const enough = () => load.counts.codes > 2 * people.length && load.counts.resets > people.length;
      await eventually(() => enough() || load.failures.length > 0, { what: 'codes and links', timeout: 120_000 });
      await load.stop();
      expect(load.failures).toEqual([]);
      await assertConsistent(fleet, load, 0);

      await eventually(async () => (await fleet.rows('SELECT id FROM mail_outbox WHERE status = 0')).length === 0, {
        what: 'nothing waits in the outbox',
      });
      expect(mailboxes.twice()).toEqual([]);
      expect(mailboxes.surplus()).toBe(0);
      expect(smtp.messages).toHaveLength(load.counts.codes + 2 * load.counts.resets);
      expect(await fleet.rows('SELECT status, COUNT(*) AS n FROM mail_outbox GROUP BY status')).toEqual([
        { status: mailStatus.sent, n: smtp.messages.length },
      ]);
    } finally {
      await fleet.stop();
      await smtp.stop();
    }
  });
});

describe('two replicas and a database that becomes unavailable', () => {
  let mariadb: MariaDb;
  let fleet: Fleet;
  let revoked: string;
  let revokedRefresh: string;
  let live: string;

  beforeAll(async () => {
    mariadb = await MariaDb.start();
    fleet = await Fleet.start(realTimeLimits, 2, await mariadb.freshDatabase('portal'));
    await fleet.givenUser('alice');
    ({ access_token: revoked, refresh_token: revokedRefresh } = (await fleet.login('alice')).body.data);
    expect((await fleet.send('/logout', { bearer: revoked, body: {} })).status).toBe(200);
    live = (await fleet.login('alice')).body.data.access_token as string;
  });
  afterAll(async () => {
    await fleet?.stop();
    await mariadb?.stop();
  });

  /** Requests of all kinds in parallel, to both replicas in turn. */
  const ask = (): Promise<Reply[]> =>
    Promise.all([
      fleet.login('alice'),
      fleet.login('nobody-at-all'),
      fleet.send('/user/me', { bearer: live }),
      fleet.send('/user/me', { bearer: revoked }),
      fleet.send('/refresh', { bearer: revokedRefresh, body: {} }),
      fleet.send('/health/ready'),
      fleet.send('/health/ready'),
    ]);

  const readinessIs = async (status: number): Promise<boolean> =>
    (await Promise.all([1, 2, 3, 4].map(() => fleet.send('/health/ready')))).every((reply) => reply.status === status);

  it.each([
    ['stopped for 8 s', () => mariadb.kill(), () => mariadb.restart(), 8000],
    ['black-holed for 8 s', () => mariadb.suspend(), () => mariadb.resume(), 8000],
    ['restarted at once', () => mariadb.kill(), () => mariadb.restart(), 0],
  ])(
    'T233 T234 T241 the database is %s: answers are 503 in time, the replicas recover, and a revoked token is never accepted',
    async (_, away, back, ms) => {
      const stolen: Reply[] = [];
      let watching = true;
      const watch = (async () => {
        while (watching) {
          stolen.push(await fleet.send('/user/me', { bearer: revoked }));
          await pause(100);
        }
      })();

      await away();
      const until = performance.now() + ms;
      // A replica caches a successful readiness check for one second.
      if (ms > 0) await eventually(() => readinessIs(503), { what: 'both replicas red' });
      do {
        const replies = ms === 0 ? [] : await ask();
        for (const reply of replies) {
          expect({ body: reply.body as unknown, status: reply.status }).toMatchObject({ status: 503 });
          expect(reply.ms).toBeLessThan(boundedAnswerMs);
        }
        // The processes stay alive.
        expect((await fleet.send('/health/live')).status).toBe(200);
      } while (performance.now() < until);
      await back();

      await eventually(async () => (await fleet.login('alice')).status === 200, { what: 'a login' });
      await eventually(() => readinessIs(200), { what: 'both replicas ready' });
      expect((await fleet.send('/user/me', { bearer: live })).status).toBe(200);
      watching = false;
      await watch;
      expect([...new Set(stolen.map(({ status }) => status))].filter((status) => ![401, 503].includes(status))).toEqual(
        [],
      );
      expect((await fleet.send('/user/me', { bearer: revoked })).status).toBe(401);
    },
  );
});

describe('two replicas and a Redis that becomes unavailable', () => {
  it('T243 logins succeed in time and the lock holds over both replicas, whatever happens to Redis', async () => {
    const redis = await Redis.start();
    const fleet = await Fleet.start({ REDIS_URL: redis.url, RATE_LIMIT: 'on' });
    try {
      const trouble = [() => redis.flush(), () => redis.suspend(), () => redis.resume(), () => redis.kill()];
      for (const [n, strike] of trouble.entries()) {
        await fleet.givenUser(`user${n}`);
        await strike();
        const right = await Promise.all([fleet.login(`user${n}`), fleet.login(`user${n}`)]);
        expect(right.map(({ status }) => status)).toEqual([200, 200]);
        for (const { ms } of right) expect(ms).toBeLessThan(boundedAnswerMs);
        const wrong = await Promise.all(Array.from({ length: 8 }, () => fleet.login(`user${n}`, 'wrong')));
        expect(wrong.map(({ body }) => body.error_code as string).sort()).toEqual([
          ...Array<string>(3).fill('LOGIN_401001'),
          ...Array<string>(5).fill('LOGIN_401004'),
        ]);
      }
    } finally {
      await fleet.stop();
      await redis.stop();
    }
  });
});
