import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { hash } from 'bcryptjs';
import { type Connection, createConnection } from 'mysql2/promise';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { TcpProxy } from '../support/servers/tcp-proxy';
import { captchaToken, patientDatabase, testSettings } from '../support/settings';

const kills = 6;
/** Further kills, if no change was cut short, or every change. */
const moreKills = 20;
/** Number of changes in progress in each killed process. Each starts at a random moment. */
const changes = 5;
/** Milliseconds that each packet to or from the database takes, so that a kill is likely to fall into a change. */
const latency = 3;

const [oldPassword, newPassword] = ['Correct-Horse-7', 'Another-Horse-8'];

/** Everything that a change writes, as one text for each user. Either all of it is written or nothing. */
const state = `
  SELECT u.uid,
    CONCAT_WS(' ',
      IF(u.password = ?, 'old-password', 'new-password'),
      IF(u.credential_version = 0, 'old-version', 'new-version'),
      (SELECT CONCAT(COUNT(*), ' log rows, ', COALESCE(SUM(l.password = u.password AND l.type = 1), 0), ' of this password')
         FROM user_change_pwd_logs l WHERE l.user_id = u.uid),
      (SELECT CONCAT(COUNT(*), ' audit rows') FROM audit_logs a WHERE a.user_id = u.uid),
      (SELECT CONCAT(COUNT(*), ' tokens, ', SUM(t.is_revoked), ' revoked, ', SUM(t.credential_version = u.credential_version),
              ' of this version') FROM login_tokens t WHERE t.user_identity = u.uid)) AS state
  FROM users u WHERE u.uid IN (?)`;
const before =
  'old-password old-version 0 log rows, 0 of this password 0 audit rows 4 tokens, 0 revoked, 4 of this version';
const after =
  'new-password new-version 1 log rows, 1 of this password 1 audit rows 6 tokens, 4 revoked, 2 of this version';

interface Owner {
  readonly uid: string;
  readonly access: string;
  /** A token of another session. */
  readonly elsewhere: string;
}

interface Result {
  readonly status: number;
  readonly data: any;
}

describe('SIGKILL in the middle of an own change of the password', () => {
  let proxy: TcpProxy;
  let databaseUrl: string;
  let slowUrl: string;
  let sql: Connection;
  let oldHash: string;

  beforeAll(async () => {
    oldHash = await hash(oldPassword, 4);
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

  const send = async (service: ServiceProcess, path: string, bearer?: string, body?: object): Promise<Result> => {
    const response = await fetch(`${service.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, data: ((await response.json()) as { data?: unknown }).data };
  };
  const logIn = (service: ServiceProcess, username: string, password: string) =>
    send(service, '/login', undefined, { username, password, captcha_token: captchaToken });
  const me = async (service: ServiceProcess, bearer: string) => (await send(service, '/user/me', bearer)).status;

  const givenOwner = async (service: ServiceProcess): Promise<Owner> => {
    const uid = randomUUID();
    await sql.query(
      `INSERT INTO users (uid, login_name, login_name_key, email, email_key, password, salt, status, tenant_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 1, 'root', UTC_TIMESTAMP(3))`,
      [uid, uid, uid, `${uid}@example.com`, `${uid}@example.com`, oldHash, oldHash.slice(0, 29)],
    );
    const tokenOf = async () => (await logIn(service, uid, oldPassword)).data.access_token as string;
    return { uid, access: await tokenOf(), elsewhere: await tokenOf() };
  };

  const change = (service: ServiceProcess, { access }: Owner) =>
    send(service, '/user/change-password', access, {
      current_password: oldPassword,
      password: newPassword,
      confirm_password: newPassword,
    });

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
    expect((await change(service, await givenOwner(service))).status).toBe(200);
    const owner = await givenOwner(service);
    const begun = performance.now();
    expect((await change(service, owner)).status).toBe(200);
    return performance.now() - begun;
  };

  it('password, history, sessions and the new pair agree after changes were cut short by a kill', async () => {
    const victims: (Owner & { answer: Result | undefined })[] = [];
    let [changedSoFar, unchangedSoFar] = [0, 0];
    // Twice the time of a single change, because parallel changes delay each other.
    let singles = 2;
    for (let kill = 0; kill < kills + moreKills; kill++) {
      if (kill >= kills && changedSoFar > 0 && unchangedSoFar > 0) break;
      const service = await start(slowUrl);
      const window = Math.ceil(singles * (await durationOf(service)));
      const owners: Owner[] = [];
      for (let n = 0; n < changes; n++) owners.push(await givenOwner(service));
      const answers = owners.map(async (owner) => {
        await pause(randomInt(window));
        return change(service, owner).catch(() => undefined);
      });
      await pause(window);
      await service.kill();
      for (const [n, owner] of owners.entries()) victims.push({ ...owner, answer: await answers[n] });
      await settled();
      const now = await states(owners.map(({ uid }) => uid));
      const done = owners.filter(({ uid }) => now.get(uid) === after).length;
      changedSoFar += done;
      unchangedSoFar += changes - done;
      // On a slow machine parallel changes may take much longer than a single one.
      if (done === 0) singles = Math.min(2 * singles, 64);
      if (done === changes) singles /= 2;
    }

    const found = await states(victims.map(({ uid }) => uid));
    const unchanged = victims.filter(({ uid }) => found.get(uid) === before);
    const changed = victims.filter(({ uid }) => found.get(uid) === after);
    for (const { uid } of victims) expect([before, after]).toContain(found.get(uid));
    // At least one kill must have interrupted a change.
    expect(unchanged.length).toBeGreaterThan(0);
    expect(changed.length).toBeGreaterThan(0);

    const survivor = await start(databaseUrl);
    for (const { uid, access, elsewhere, answer } of victims) {
      const isChanged = found.get(uid) === after;
      // Whoever got an answer has tokens that work: the new pair, or else the old tokens.
      if (answer?.status === 200) {
        expect(isChanged).toBe(true);
        expect(await me(survivor, answer.data.access_token as string)).toBe(200);
      }
      expect(await me(survivor, access)).toBe(isChanged ? 401 : 200);
      expect(await me(survivor, elsewhere)).toBe(isChanged ? 401 : 200);
      expect((await logIn(survivor, uid, isChanged ? newPassword : oldPassword)).status).toBe(200);
      expect((await logIn(survivor, uid, isChanged ? oldPassword : newPassword)).status).toBe(401);
    }
  });
});
