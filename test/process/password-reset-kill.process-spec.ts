import { createHash, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Connection, createConnection } from 'mysql2/promise';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { TcpProxy } from '../support/servers/tcp-proxy';
import { goodPassword } from '../support/reset';
import { patientDatabase, testSettings } from '../support/settings';

const kills = 6;
/** Further kills, if no change was cut short, or every change. */
const moreKills = 20;
/** Number of changes in progress in each killed process. Each starts at a random moment. */
const changes = 5;
/** Milliseconds that each packet to or from the database takes, so that a kill is likely to fall into a change. */
const latency = 3;

/** Everything that a change writes, as one text for each user. Either all of it is written or nothing. */
const state = `
  SELECT u.uid,
    CONCAT_WS(' ',
      IF(u.password = ?, 'old-password', 'new-password'),
      IF(u.credential_version = 0, 'old-version', 'new-version'),
      (SELECT IF(r.status = 0, 'pending', 'used') FROM user_change_password_request r WHERE r.user_id = u.uid),
      (SELECT CONCAT(COUNT(*), ' log rows, ', COALESCE(SUM(l.password = u.password), 0), ' of this password')
         FROM user_change_pwd_logs l WHERE l.user_id = u.uid),
      (SELECT CONCAT(COUNT(*), ' audit rows') FROM audit_logs a WHERE a.user_id = u.uid)) AS state
  FROM users u WHERE u.uid IN (?)`;
const before = 'old-password old-version pending 0 log rows, 0 of this password 0 audit rows';
const after = 'new-password new-version used 1 log rows, 1 of this password 1 audit rows';

/** A fixed hash. No password of this test matches it. */
const oldHash = '$2b$04$abcdefghijklmnopqrstuu5Lr0j4nQZ4Jz6sWq1c9y2mV8tBxKdGi';

describe('SIGKILL in the middle of a change (T250)', () => {
  let proxy: TcpProxy;
  let databaseUrl: string;
  let slowUrl: string;
  let sql: Connection;

  beforeAll(async () => {
    databaseUrl = await MariaDbDatabases.shared().migratedDatabase();
    proxy = await TcpProxy.start(Number(new URL(databaseUrl).port));
    slowUrl = Object.assign(new URL(databaseUrl), { port: String(proxy.port) }).toString();
    await (await start(databaseUrl)).kill();
    sql = await createConnection({ uri: databaseUrl, timezone: 'Z' });
    proxy.setLatency(latency);
  });
  afterAll(async () => {
    await Promise.all(started.map((service) => service.kill()));
    await sql.end();
    await proxy.stop();
    await MariaDbDatabases.shared().drop(databaseUrl);
  });

  const started: ServiceProcess[] = [];
  const start = async (url: string) => {
    const service = await ServiceProcess.start({
      env: { ...testSettings, ...patientDatabase, LOG_LEVEL: 'error', DATABASE_URL: url },
    });
    started.push(service);
    return service;
  };

  const givenLink = async () => {
    const [uid, token] = [randomUUID(), randomUUID()];
    await sql.query(
      `INSERT INTO users (uid, login_name, login_name_key, email, email_key, password, salt, status, tenant_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 1, 'root', UTC_TIMESTAMP(3))`,
      [uid, uid, uid, `${uid}@example.com`, `${uid}@example.com`, oldHash, oldHash.slice(0, 29)],
    );
    await sql.query(
      `INSERT INTO user_change_password_request
         (uid, token_hash, user_id, type, status, credential_version, expired, created_at)
       VALUES (?, ?, ?, 2, 0, 0, UTC_TIMESTAMP(3) + INTERVAL 30 MINUTE, UTC_TIMESTAMP(3))`,
      [randomUUID(), createHash('sha256').update(token).digest('hex'), uid],
    );
    return { uid, token };
  };

  const submit = async (service: ServiceProcess, token: string) => {
    const password = goodPassword(1);
    const response = await fetch(`${service.url}/user/change-pwd-by-req`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ req_uid: token, password, confirm_password: password }),
    });
    return response.status;
  };

  const states = async (uids: readonly string[]) => {
    const [rows] = await sql.query(state, [oldHash, uids]);
    return new Map((rows as { uid: string; state: string }[]).map((row) => [row.uid, row.state]));
  };

  /** The server finishes or rolls back the statements of a killed process before it closes the connection. */
  const settled = () =>
    eventually(
      async () => {
        const [rows] = await sql.query(
          'SELECT COUNT(*) AS n FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
        );
        return Number((rows as { n: number }[])[0]?.n) === 0;
      },
      { what: 'the connections of the killed processes are closed' },
    );

  /** Duration of a change on this machine, with open connections and started threads. */
  const durationOf = async (service: ServiceProcess) => {
    expect(await submit(service, (await givenLink()).token)).toBe(200);
    const { token } = await givenLink();
    const begun = performance.now();
    expect(await submit(service, token)).toBe(200);
    return performance.now() - begun;
  };

  it('password, log and request agree after changes were cut short by a kill, and a link works exactly when nothing was changed', async () => {
    const victims: { uid: string; token: string; answer: unknown }[] = [];
    let [changedSoFar, unchangedSoFar] = [0, 0];
    // Twice the time of a single change, because parallel changes delay each other.
    let singles = 2;
    for (let kill = 0; kill < kills + moreKills; kill++) {
      if (kill >= kills && changedSoFar > 0 && unchangedSoFar > 0) break;
      const service = await start(slowUrl);
      const window = Math.ceil(singles * (await durationOf(service)));
      const links = await Promise.all(Array.from({ length: changes }, givenLink));
      const answers = links.map(async ({ token }) => {
        await pause(randomInt(window));
        return submit(service, token).catch(() => 'no answer');
      });
      await pause(window);
      await service.kill();
      await settled();
      const found = await states(links.map(({ uid }) => uid));
      for (const [n, { uid, token }] of links.entries()) {
        const answer = await answers[n];
        expect([before, after]).toContain(found.get(uid));
        if (answer === 200) expect(found.get(uid)).toBe(after);
        victims.push({ uid, token, answer });
      }
      const done = links.filter(({ uid }) => found.get(uid) === after).length;
      changedSoFar += done;
      unchangedSoFar += changes - done;
      // On a slow machine parallel changes may take much longer than a single one.
      if (done === 0) singles = Math.min(2 * singles, 64);
      if (done === changes) singles /= 2;
    }

    const found = await states(victims.map(({ uid }) => uid));
    const unchanged = victims.filter(({ uid }) => found.get(uid) === before);
    const changed = victims.filter(({ uid }) => found.get(uid) === after);
    expect(unchanged.length + changed.length).toBe(victims.length);
    // At least one kill must have interrupted a change.
    expect(unchanged.length).toBeGreaterThan(0);
    expect(changed.length).toBeGreaterThan(0);

    const survivor = await start(databaseUrl);
    for (const { token } of changed) expect(await submit(survivor, token)).toBe(401);
    for (const { token } of unchanged) expect(await submit(survivor, token)).toBe(200);
    expect(new Set((await states(victims.map(({ uid }) => uid))).values())).toEqual(new Set([after]));
  });
});
