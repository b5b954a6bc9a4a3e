import { formerRelease } from '../../migrations/releases';
import { Fleet } from '../support/fleet';
import { FormerVersion, releasedCommit } from '../support/former-version';
import { MixedLoad } from '../support/mixed-load';
import { nextMigration, NextVersion } from '../support/next-version';
import { ROOT } from '../support/replicas';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
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

/** `FORMER_VERSION` names an older version of migrations/releases.ts. A release runs this test for each of them. */
const { FORMER_VERSION: before = formerRelease.version } = process.env;
const commit = releasedCommit(before);

/**
 * The version that was released last, built from the history of the repository. Commits between releases are no version before: a
 * migration may still change until its release. Where the history is missing, as in an archive or a shallow clone, only the
 * tests above run.
 */
(commit === undefined ? describe.skip : describe)('the version before and this one side by side', () => {
  let former: FormerVersion;
  let fleet: Fleet;

  beforeAll(async () => {
    former = await FormerVersion.build(commit!);
    fleet = await Fleet.start({}, 2, undefined, former.root);
    fleet.set({ MIGRATE_ON_START: 'false' });
    // As docs/operations/upgrade.md asks for: replicas of 1.0.0 do not know bound tokens, nor this setting.
    if (before === '1.0.0') fleet.set({ TOKEN_BINDING: 'off' });
    for (const name of people) await fleet.givenUser(name);
  });
  afterAll(async () => {
    await fleet?.stop();
    await former?.remove();
  });

  const statusOf = async ({ url }: ServiceProcess, path: string) => (await fetch(`${url}${path}`)).status;
  const sessionOf = async (name: string) => (await fleet.login(name)).body.data as Record<string, string>;

  /** Starts this version or the one before beside the others, and stops all others. */
  async function replace(root: string, name: string): Promise<ServiceProcess> {
    const leaving = [...fleet.services];
    const coming = await fleet.launch({ root });
    await fleet.admit(coming);
    await load.more(100);
    step(`${name} beside the other`);
    expect(await fleet.retire(...leaving)).toEqual(leaving.map(() => ({ code: 0, signal: null })));
    await load.more(100);
    step(`the other stops, ${name} alone`);
    replaced.push(...leaving, coming);
    return coming;
  }
  let load: MixedLoad;
  const steps: { step: string; requests: number; failed: number }[] = [];
  /** Notes the requests since the step before (docs/operations/upgrade.md#versions). */
  function step(name: string): void {
    const sum = (of: (one: (typeof steps)[number]) => number) => steps.reduce((total, one) => total + of(one), 0);
    const requests = load.counts.requests - sum((one) => one.requests);
    steps.push({ step: name, requests, failed: load.failures.length - sum((one) => one.failed) });
  }
  const replaced: ServiceProcess[] = [];

  /** `upgrade --check` of this version asks the database and a replica of the version before, and stops no request. */
  async function checkUpgrade(): Promise<void> {
    const port = await freePort();
    fleet.set({ METRICS_PORT: `${port}` });
    const told = await fleet.launch();
    const replica = `http://127.0.0.1:${port}`;
    const { code, answer } = await fleet.run(['upgrade', '--check', '--replica', replica], { root: ROOT });
    fleet.set({ METRICS_PORT: '' });
    await told.kill();
    expect({ code, verdict: answer.verdict, schema: answer.schema, replicas: answer.replicas }).toEqual({
      ...{ code: 0, verdict: 'go', schema: before },
      replicas: [{ url: replica, version: before }],
    });
    step(`upgrade --check, while ${before} serves`);
  }

  it('no request fails while the schema is migrated, this version replaces the one before, and the one before comes back', async () => {
    const kept = await sessionOf('ann');
    load = new MixedLoad(fleet, people);
    await load.more(50);
    step(`${before} alone`);
    await checkUpgrade();
    const waiting = await fleet.launch({ root: ROOT, ready: '/health/live' });
    const readiness = await statusOf(waiting, '/health/ready');
    await waiting.kill();
    const { code, answer } = await fleet.run(['migrate'], { root: ROOT });
    expect(code).toBe(0);
    // Two versions may have the same schema.
    expect(readiness).toBe((answer.ran as string[]).length > 0 ? 503 : 200);
    await load.more(100);
    step(`migrate, while ${before} serves`);
    // The version before works on the new schema.
    for (const service of fleet.services) expect(await statusOf(service, '/health/ready')).toBe(200);

    const older = [...fleet.services];
    await replace(ROOT, 'this version');
    const newer = await sessionOf('ann');
    older.push(await replace(former.root, before));
    await load.stop();
    process.stdout.write(`${JSON.stringify(steps)}\n`);
    const errorsOf = (services: readonly ServiceProcess[]) =>
      services.flatMap(({ lines }) => lines.filter((line) => line.includes('"level":50')));
    const errors = errorsOf(replaced);
    // 1.0.0 and 1.1.0 answer 500 when MariaDB refuses a prepared statement because a migration changes its table again and again. This
    // version runs the statement again.
    const known = errorsOf(older).filter((line) => /ER_NEED_REPREPARE|needs to be re-prepared/.test(line));
    const failures = load.failures.length === known.length ? [] : load.failures;
    expect({ failures, errors: errors.filter((line) => !known.includes(line)) }).toEqual({ failures: [], errors: [] });
    for (const { requests } of steps) expect(requests).toBeGreaterThan(0);

    // A session outlives both roll-outs, whichever version has opened it.
    for (const { access_token, refresh_token } of [kept, newer]) {
      expect((await fleet.send('/user/me', { bearer: access_token })).status).toBe(200);
      expect((await fleet.send('/refresh', { body: { refresh_token } })).status).toBe(200);
    }
    expect(await fleet.run(['migrate'])).toMatchObject({ code: 0, answer: { ran: [] } });
  });
});
