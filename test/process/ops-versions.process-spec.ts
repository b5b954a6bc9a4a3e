import { Fleet } from '../support/fleet';
import { MixedLoad } from '../support/mixed-load';
import { nextMigration, NextVersion } from '../support/next-version';
import { eventually } from '../support/servers/eventually';
import type { ServiceProcess } from '../support/servers/service-process';

const people = ['ann', 'bob', 'cid', 'dan'];

/** The upgrade of docs/operations/upgrade.md: the schema is migrated under the old version, then the pods are replaced. */
describe('T252 the old version and the new one side by side', () => {
  let next: NextVersion;
  let fleet: Fleet;

  beforeAll(async () => {
    next = await NextVersion.build();
    fleet = await Fleet.start();
    // From now on only the command `migrate` runs migrations, as in a cluster.
    fleet.set({ MIGRATE_ON_START: 'false' });
    for (const name of people) await fleet.givenUser(name);
  });
  afterAll(async () => {
    await fleet?.stop();
    await next.remove();
  });

  const statusOf = async ({ url }: ServiceProcess, path: string) => (await fetch(`${url}${path}`)).status;
  const post = async ({ url }: ServiceProcess, path: string, bearer: string, body: object = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify(body),
    });

  it('no request fails while the migration runs, the new replica starts and the old ones stop', async () => {
    const former = [...fleet.services];
    const load = new MixedLoad(fleet, people);
    await load.more(50);

    // The new pod starts before its migrations have run: it is alive and not ready, so it gets no requests.
    const coming = await fleet.launch({ root: next.root, ready: '/health/live' });
    expect(await statusOf(coming, '/health/ready')).toBe(503);
    expect(await (await fetch(`${coming.url}/health/ready`)).json()).toMatchObject({ database: 'migrations pending' });

    const readiness: number[] = [];
    let migrating = true;
    const watch = (async () => {
      while (migrating) readiness.push(...(await Promise.all(former.map((one) => statusOf(one, '/health/ready')))));
    })();
    expect(await fleet.run(['migrate'], { root: next.root })).toMatchObject({
      code: 0,
      answer: { ran: [nextMigration] },
    });
    const seen = readiness.length;
    await load.more(100);
    await eventually(() => readiness.length > seen + 20, { what: 'the readiness after the migration' });
    migrating = false;
    await watch;
    expect(new Set(readiness)).toEqual(new Set([200]));

    // The new replica notices the migration by itself.
    await eventually(async () => (await statusOf(coming, '/health/ready')) === 200, {
      what: 'the new replica is ready',
    });
    expect(await statusOf(coming, '/health/live')).toBe(200);
    await fleet.admit(coming);
    await load.more(150);
    expect(await fleet.retire(...former)).toEqual(former.map(() => ({ code: 0, signal: null })));
    await load.stop();
    expect(load.failures).toEqual([]);
    for (const { lines } of [...former, coming])
      expect(lines.filter((line) => line.includes('"level":50'))).toEqual([]);
  });

  it('a session of one version can be refreshed and ended by the other, and the lock counts over both', async () => {
    const [newer] = fleet.services as [ServiceProcess];
    // Starts the old version on the new schema, as after a rollback.
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
    // The old version has written rows with the default of the new column.
    expect(await fleet.rows("SELECT jti FROM login_tokens WHERE device <> ''")).toEqual([]);
  });

  it('the old version has nothing to migrate, and reverts nothing', async () => {
    expect(await fleet.run(['migrate'])).toMatchObject({ code: 0, answer: { ran: [] } });
    expect(await fleet.rows('SELECT name FROM migrations ORDER BY id DESC LIMIT 1')).toEqual([{ name: nextMigration }]);
    expect((await fleet.run(['doctor'])).answer).toContainEqual({ check: 'migrations', status: 'ok', text: 'current' });
  });
});
