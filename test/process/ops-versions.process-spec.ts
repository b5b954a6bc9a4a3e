import { setTimeout as pause } from 'node:timers/promises';
import { type Connection, createConnection } from 'mysql2/promise';
import { Fleet } from '../support/fleet';
import { MixedLoad } from '../support/mixed-load';
import { nextMigration, NextVersion } from '../support/next-version';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import type { ServiceProcess } from '../support/servers/service-process';

const people = ['ann', 'bob', 'cid', 'dan'];

/** An upgrade as docs/operations/upgrade.md has it: the schema expands under the former version, then the pods are replaced. */
describe('T252 the old version and the new one side by side', () => {
  let databaseUrl: string;
  let next: NextVersion;
  let fleet: Fleet;
  let sql: Connection;

  beforeAll(async () => {
    next = await NextVersion.build();
    databaseUrl = await MariaDbDatabases.shared().freshDatabase();
    fleet = await Fleet.start(databaseUrl, 2);
    // Only `migrate` migrates from here on, as in the cluster.
    fleet.set({ MIGRATE_ON_START: 'false' });
    sql = await createConnection({ uri: databaseUrl });
    for (const name of people) await fleet.givenUser(name);
  });
  afterAll(async () => {
    await sql.end();
    await fleet.stop();
    await next.remove();
    await MariaDbDatabases.shared().drop(databaseUrl);
  });

  const statusOf = async ({ url }: ServiceProcess, path: string) => (await fetch(`${url}${path}`)).status;
  const post = async ({ url }: ServiceProcess, path: string, bearer: string, body: object = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify(body),
    });

  it('not one request fails while the migration runs, the new replica comes and the old ones go', async () => {
    const former = [...fleet.services];
    const load = new MixedLoad(fleet, people);
    await pause(1000);

    // The new pod is there before its migrations are: alive, so that nobody restarts it, and asked nothing.
    const coming = await fleet.launch({ root: next.root, ready: '/health/live' });
    expect(await statusOf(coming, '/health/ready')).toBe(503);
    expect(await (await fetch(`${coming.url}/health/ready`)).json()).toMatchObject({ database: 'migrations pending' });

    const readiness: number[] = [];
    let migrating = true;
    const watch = (async () => {
      while (migrating) readiness.push(...(await Promise.all(former.map((one) => statusOf(one, '/health/ready')))));
    })();
    const before = load.counts.requests;
    expect(await fleet.run(['migrate'], { root: next.root })).toMatchObject({
      code: 0,
      answer: { ran: [nextMigration] },
    });
    await pause(1000);
    migrating = false;
    await watch;
    expect(load.counts.requests).toBeGreaterThan(before + 20);
    expect(readiness.length).toBeGreaterThan(20);
    expect(new Set(readiness)).toEqual(new Set([200]));

    // It sees that by itself, and serves beside the old ones.
    await eventually(async () => (await statusOf(coming, '/health/ready')) === 200, {
      what: 'the new replica is ready',
    });
    expect(await statusOf(coming, '/health/live')).toBe(200);
    await fleet.admit(coming);
    await pause(1500);
    expect(await fleet.retire(...former)).toEqual(former.map(() => ({ code: 0, signal: null })));
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(load.counts.requests).toBeGreaterThan(200);
    for (const { lines } of [...former, coming])
      expect(lines.filter((line) => line.includes('"level":50'))).toEqual([]);
  });

  it('what one version opens the other refreshes and ends, and the lock counts over both', async () => {
    const [newer] = fleet.services as [ServiceProcess];
    // The former image on the new schema, as after a rolling back.
    const older = await fleet.launch();
    await fleet.admit(older);
    for (const [opener, ender] of [
      [older, newer],
      [newer, older],
    ] as const) {
      await fleet.route([opener]);
      const { access_token, refresh_token } = (await fleet.login('ann')).body.data as Record<string, string>;
      expect((await post(ender, '/refresh', refresh_token!)).status).toBe(200);
      expect((await post(ender, '/logout', access_token!)).status).toBe(200);
      expect((await post(opener, '/refresh', refresh_token!)).status).toBe(401);
    }
    await fleet.route([older, newer]);
    await fleet.givenUser('eve');
    const wrong = await Promise.all(Array.from({ length: 10 }, () => fleet.login('eve', 'wrong')));
    expect(wrong.map(({ body }) => body.error_code as string).sort()).toEqual([
      ...Array<string>(3).fill('LOGIN_401001'),
      ...Array<string>(7).fill('LOGIN_401004'),
    ]);
    // The old one has written rows that lack nothing the new one has added.
    const [rows] = await sql.query("SELECT COUNT(*) AS n FROM login_tokens WHERE device <> ''");
    expect(rows).toEqual([{ n: 0 }]);
  });

  it('the former version finds nothing to migrate, and takes nothing back', async () => {
    expect(await fleet.run(['migrate'])).toMatchObject({ code: 0, answer: { ran: [] } });
    const [rows] = await sql.query('SELECT name FROM migrations ORDER BY id DESC LIMIT 1');
    expect(rows).toEqual([{ name: nextMigration }]);
    expect((await fleet.run(['doctor'])).answer).toContainEqual({ check: 'migrations', status: 'ok', text: 'current' });
  });
});
