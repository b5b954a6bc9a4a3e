import { post } from '../support/post';
import { Regions } from '../support/regions';
import { runProgram } from '../support/run-program';
import { type AnsweredSession, judged, sendTo, SessionLoad } from '../support/session-load';
import { eventually } from '../support/servers/eventually';
import { fillMigrated } from '../support/servers/migrated';
import { captchaToken, password, patientDatabase, realTimeLimits, testSettings } from '../support/settings';

const people = ['ann', 'ben', 'cleo', 'dan'];
const nothingLost = { lostAccess: 0, lostRefresh: 0, alive: 0 };
const unavailable = { status: 503, body: { error_code: 'COMMON_503001' } };

/** Runs every block of docs/operations/second-region.md, with the settings of the page, in the order of the tests below. */
describe('a second region', () => {
  let regions: Regions;
  const answered: AnsweredSession[] = [];

  beforeAll(async () => {
    regions = await Regions.start({ ...testSettings, ...patientDatabase, LOG_LEVEL: 'warn' });
    const { primary } = regions;
    await primary.sql('CREATE DATABASE portal CHARACTER SET utf8mb4');
    const DATABASE_URL = Object.assign(new URL(primary.mariadb.url), { pathname: '/portal' }).toString();
    await fillMigrated(DATABASE_URL);
    const input = ['login_name,password', ...people.map((name) => `${name},${password}`), ''].join('\n');
    const imported = ['user', 'import', '-', '--format', 'csv'];
    const options = { env: { ...testSettings, DATABASE_URL }, cwd: process.cwd(), input };
    expect(await runProgram('dist/src/cli.js', imported, options)).toMatchObject({ code: 0 });
  });
  afterAll(() => regions?.stop());

  const loadAt = (url: string) =>
    new SessionLoad(
      sendTo(() => url),
      people.length,
      (n) => people[n % people.length]!,
    );
  const logIn = (url: string, username = 'ann') =>
    post({ url }, '/login', { username, password, captcha_token: captchaToken });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const meStatus = async (url: string, token: string) =>
    (await fetch(`${url}/user/me`, { headers: bearer(token) })).status;

  it('is set up by the page while the first region goes on', async () => {
    await regions.primary.sql('SET GLOBAL read_only = OFF');
    const { url } = await regions.primary.serve();
    const load = loadAt(url);
    await load.more(8);
    await regions.replicate();
    await load.more(8);
    await load.stop();
    expect(load.counts.failed).toBe(0);
    answered.push(...load.sessions);
  });

  it('before the failover the service there refuses what writes, and accepts no token that was revoked', async () => {
    const { url } = await regions.primary.serve();
    const standby = await regions.replica.serve({ ready: '/health/live' });
    const { access_token: open, refresh_token: refresh } = (await logIn(url)).body.data as Record<string, string>;
    const { access_token: ended } = (await logIn(url)).body.data as Record<string, string>;
    await post({ url }, '/logout', {}, bearer(ended!));

    const ready = await fetch(`${standby.url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'unavailable', database: 'read only' }]);
    expect(await logIn(standby.url)).toMatchObject(unavailable);
    expect(await post(standby, '/refresh', { refresh_token: refresh })).toMatchObject(unavailable);
    expect(await post(standby, '/logout', {}, bearer(open!))).toMatchObject(unavailable);
    // An acknowledged commit is received, and applied a moment later.
    await eventually(async () => (await meStatus(standby.url, ended!)) === 401, {
      what: 'the revoked token is refused',
    });
    expect(await meStatus(standby.url, open!)).toBe(200);
    await regions.replica.unserve();
  });

  it('while the replica is silent, nothing is answered with success that it lacks', async () => {
    await regions.primary.unserve();
    const { url } = await regions.primary.serve({ settings: realTimeLimits });
    // The second choice of the page: the primary never goes on alone.
    await regions.primary.sql('SET GLOBAL rpl_semi_sync_master_timeout = 86400000');
    regions.primary.link.blackhole();
    expect(await logIn(url)).toMatchObject({ status: 503 });
    const [open] = answered.find(({ state }) => state === 'open')!.access;
    await eventually(async () => (await meStatus(url, open!)) === 200, { what: 'checks during the silence' });
    await regions.primary.link.forward();
    await eventually(async () => (await logIn(url)).status === 200, { what: 'logins after the silence' });
    await regions.primary.unserve();
  });

  it('the first region is lost under load: everything that was answered is in the second one, and nothing revoked lives', async () => {
    const { url } = await regions.primary.serve();
    const load = loadAt(url);
    await load.more(12);
    await regions.primary.lose();
    await load.stop();
    await regions.failOver();
    answered.push(...load.sessions);
    expect(load.sessions.map(({ state }) => state)).toEqual(expect.arrayContaining(['open', 'ended']));
    expect(
      await judged(
        sendTo(() => regions.primary.service!.url),
        answered,
      ),
    ).toEqual(nothingLost);
    expect((await logIn(regions.primary.service!.url)).status).toBe(200);
  });

  it('a first region that comes back by itself takes no writes beside the second one', async () => {
    await regions.replica.mariadb.restart();
    const write = "INSERT INTO portal.cooldowns (kind) VALUES ('second-region')";
    await expect(regions.replica.sqlOfService(write)).rejects.toThrow('--read-only');
  });

  it('the way back: the first region is rebuilt under load, and the planned switch loses nothing', async () => {
    const load = loadAt(regions.primary.service!.url);
    await load.more(8);
    await regions.replicate();
    await load.more(8);
    await load.stop();
    expect(load.counts.failed).toBe(0);
    answered.push(...load.sessions);
    await regions.switchBack();
    expect(
      await judged(
        sendTo(() => regions.primary.service!.url),
        answered,
      ),
    ).toEqual(nothingLost);
    await regions.replicate();
  });

  it('without semi-synchronous replication, all that the replica lagged behind is lost, and ending all sessions is the answer', async () => {
    await regions.primary.sql('SET GLOBAL rpl_semi_sync_master_enabled = OFF');
    regions.primary.link.blackhole();
    const { url } = await regions.primary.serve();
    const revoked = answered.find(({ state }) => state === 'open')!;
    expect((await post({ url }, '/logout', {}, bearer(revoked.access[0]!))).status).toBe(200);
    const lagging = loadAt(url);
    await lagging.more(8);
    await lagging.stop();
    await regions.primary.lose();
    await regions.primary.link.refuse();
    await regions.failOver();
    const second = regions.primary.service!.url;
    expect(await meStatus(second, revoked.access[0]!)).toBe(200);
    const open = lagging.sessions.filter(({ state }) => state === 'open');
    expect(
      await judged(
        sendTo(() => second),
        lagging.sessions,
      ),
    ).toMatchObject({ lostRefresh: open.length, alive: 0 });
    await regions.endSessions();
    expect(await meStatus(second, revoked.access[0]!)).toBe(401);
  });

  it('every block of the page ran', () => {
    expect(regions.page.allBlocks.filter((block) => !regions.rehearsed.has(block))).toEqual([]);
  });
});
