import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Connection, createConnection } from 'mysql2/promise';
import { FakeClock } from '../support/fakes';
import { givenCaller } from '../support/admin';
import { TestService } from '../support/app';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { TcpProxy } from '../support/servers/tcp-proxy';
import { testSettings } from '../support/settings';

const kills = 5;
/** Milliseconds that each packet to or from the database takes, so that a kill is likely to fall into a change. */
const latency = 3;

interface Change {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly event: string;
  /** The condition of a user on whom the change was made. */
  readonly made: string;
}

const changes: readonly Change[] = [
  { method: 'DELETE', path: '', event: 'USER_DELETED', made: 'u.deleted_at IS NOT NULL' },
  { method: 'PATCH', path: '', body: { status: -1 }, event: 'USER_STATUS_CHANGED', made: 'u.status = -1' },
  { method: 'PATCH', path: '', body: { email: null }, event: 'USER_CHANGED', made: 'u.email IS NULL' },
  { method: 'POST', path: '/unlock', event: 'USER_UNLOCKED', made: 'u.login_failed_count = 0' },
  { method: 'POST', path: '/revoke-sessions', event: 'USER_TOKENS_REVOKED', made: 'u.credential_version = 1' },
  {
    method: 'POST',
    path: '/invite',
    event: 'USER_INVITED',
    made: 'EXISTS (SELECT 1 FROM user_change_password_request r WHERE r.user_id = u.uid)',
  },
];

describe('SIGKILL in the middle of changes by an administrator', () => {
  let proxy: TcpProxy;
  let databaseUrl: string;
  let slowUrl: string;
  let sql: Connection;
  let service: TestService;
  let admin: { uid: string; bearer: string };
  const started: ServiceProcess[] = [];

  beforeAll(async () => {
    databaseUrl = await MariaDbDatabases.shared().migratedDatabase();
    proxy = await TcpProxy.start(Number(new URL(databaseUrl).port));
    slowUrl = Object.assign(new URL(databaseUrl), { port: String(proxy.port) }).toString();
    const store = { url: databaseUrl, drop: () => Promise.resolve() };
    service = await TestService.start({ ADMIN_API: 'on' }, { store, clock: new FakeClock(new Date()) });
    const { user, bearer } = await givenCaller(service, { isAdmin: true });
    admin = { uid: user.uid, bearer };
    sql = await createConnection({ uri: databaseUrl, timezone: 'Z' });
    proxy.setLatency(latency);
  });
  afterAll(async () => {
    await Promise.all(started.map((process) => process.kill()));
    await sql.end();
    await service.stop();
    await proxy.stop();
    await MariaDbDatabases.shared().drop(databaseUrl);
  });

  const start = async () => {
    const env = { ...testSettings, LOG_LEVEL: 'error', ADMIN_API: 'on', DATABASE_URL: slowUrl };
    // A young session for the whole test, however slow the machine is.
    const replica = await ServiceProcess.start({ env: { ...env, STEP_UP_MAX_AGE_SECONDS: '86400' } });
    started.push(replica);
    return replica;
  };

  const givenTarget = async () => {
    const uid = randomUUID();
    await sql.query(
      `INSERT INTO users (uid, login_name, login_name_key, email, email_key, status, login_failed_count, tenant_id, created_at)
       VALUES (?, ?, ?, ?, ?, 1, 2, 'root', UTC_TIMESTAMP(3))`,
      [uid, uid, uid, `${uid}@example.com`, `${uid}@example.com`],
    );
    return uid;
  };

  const make = (replica: ServiceProcess, { method, path, body }: Change, uid: string) =>
    fetch(`${replica.url}/admin/users/${uid}${path}`, {
      method,
      headers: { authorization: `Bearer ${admin.bearer}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    }).then(
      ({ status }) => status,
      () => undefined,
    );

  const closed = () =>
    eventually(
      async () => {
        const [rows] = await sql.query(
          `SELECT COUNT(*) AS n FROM information_schema.processlist
           WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command <> 'Sleep'`,
        );
        return Number((rows as { n: number }[])[0]?.n) === 0;
      },
      { what: 'the connections of the killed processes are idle' },
    );

  it(`each change is there with its audit row and its actor, or not at all, after ${kills} kills (T320)`, async () => {
    const seen = { made: 0, unmade: 0 };
    for (let kill = 0; kill < kills; kill++) {
      const replica = await start();
      // The first changes open the connections, and tell how long all changes take.
      const begun = performance.now();
      for (const change of changes) expect(await make(replica, change, await givenTarget())).toBe(200);
      const window = Math.ceil(performance.now() - begun);
      const victims: { change: Change; uid: string }[] = [];
      for (const change of changes) victims.push({ change, uid: await givenTarget() });
      const answers = victims.map(async ({ change, uid }) => {
        await pause(randomInt(window));
        return make(replica, change, uid);
      });
      await pause(window / 2);
      await replica.kill();
      const statuses = await Promise.all(answers);
      await closed();
      for (const [n, { change, uid }] of victims.entries()) {
        const [rows] = await sql.query(
          `SELECT (${change.made}) AS made,
             (SELECT COUNT(*) FROM audit_logs a WHERE a.user_id = u.uid AND a.event = ? AND a.actor_id = ?) AS audited,
             (SELECT COUNT(*) FROM audit_logs a WHERE a.user_id = u.uid) AS rows_of_user
           FROM users u WHERE u.uid = ?`,
          [change.event, admin.uid, uid],
        );
        const { made, audited, rows_of_user } = (rows as Record<string, number>[])[0]!;
        expect({ change, audited, rows_of_user }).toEqual({ change, audited: made, rows_of_user: made });
        if (statuses[n] === 200) expect(made).toBe(1);
        if (made === 1) seen.made++;
        else seen.unmade++;
      }
    }
    // The kills have fallen among the changes.
    expect(seen.made).toBeGreaterThan(0);
    expect(seen.unmade).toBeGreaterThan(0);
  });
});
