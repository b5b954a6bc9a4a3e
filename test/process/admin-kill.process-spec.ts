import { generateKeyPairSync } from 'node:crypto';
import { type Connection, createConnection } from 'mysql2/promise';
import { type HoldPoint, HoldProxy, type Write } from '../support/crash/hold-proxy';
import { type Attempt, changes, type KilledChange, type World } from '../support/crash/killed-changes';
import { codes, type KilledCode, type OneTimeCode } from '../support/crash/killed-codes';
import { TestService } from '../support/app';
import { webhookSecret } from '../support/events/webhook-receiver';
import { RunningClock } from '../support/fakes';
import { HostileProvider } from '../support/hostile-provider';
import { openIdSettings } from '../support/openid';
import { scimSettings } from '../support/scim/client';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { patientDatabase, testSettings } from '../support/settings';

const rounds = 2;
const pool = 120;
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });

const settings = {
  ...{ ADMIN_API: 'on', EVENT_RECEIVERS: 'on', RATE_LIMIT: 'off', LOG_LEVEL: 'error' },
  ...scimSettings,
  // No server listens there, so each event waits with its content, and no off-boarding gets complete.
  ...{ WEBHOOK_URL: 'http://127.0.0.1:9/', WEBHOOK_SECRET: webhookSecret },
  // However slow the machine is, nothing expires.
  ...{ ACCESS_TOKEN_TTL_SECONDS: '86400', STEP_UP_MAX_AGE_SECONDS: '86400' },
};
const settingsOfProcess = {
  ...{ ...testSettings, ...patientDatabase, ...settings, ...openIdSettings, OIDC_PRIVATE_KEY: String(key) },
  // Requests are held until all are. Each holds a connection.
  ...{ PATIENCE: '1000', DATABASE_POOL_SIZE: `${pool}` },
};

/** A request that is held at a place. */
interface Victim<Kind, Given> {
  readonly kind: Kind;
  readonly given: Given;
  readonly point: HoldPoint;
  /** The writes that the database has done before the kill. */
  readonly done: readonly Write[];
}

const commitsIn = (writes: readonly Write[]) => writes.filter(({ text }) => text === 'COMMIT').length;

/**
 * Before and after each commit and each write without a transaction, and before the audit rows. What else a transaction has written
 * so far is gone at the first of these, or it was not written by the transaction.
 */
function pointsOf(writes: readonly Write[], most = Infinity): HoldPoint[] {
  const points = writes.flatMap(({ text, alone }, n): HoldPoint[] => {
    const before = { write: n + 1, done: false };
    const after = { write: n + 1, done: true };
    if (text === 'COMMIT') return [before, after];
    return (alone && !text.includes('`cooldowns`')) || text.startsWith('INSERT INTO `audit_logs`') ? [before] : [];
  });
  const commits = points.filter(({ write }) => writes[write - 1]?.text === 'COMMIT');
  const others = points.filter((point) => !commits.includes(point));
  const last = { write: writes.length, done: true };
  const isLast = commits.at(-1)?.write === last.write;
  return [...commits, ...others, ...(isLast ? [] : [last])].slice(0, most);
}

describe('SIGKILL at every write', () => {
  let databaseUrl: string;
  let world: World;
  let sql: Connection;
  let service: TestService;
  let provider: HostileProvider;
  const started: ServiceProcess[] = [];
  const proxies: HoldProxy[] = [];

  beforeAll(async () => {
    databaseUrl = await MariaDbDatabases.shared().migratedDatabase();
    const store = { url: databaseUrl, drop: () => Promise.resolve() };
    service = await TestService.start(settings, { store, clock: new RunningClock() });
    provider = await HostileProvider.start(() => new Date());
    sql = await createConnection({ uri: databaseUrl, timezone: 'Z' });
    world = { service, sql, provider };
  });
  afterAll(async () => {
    await Promise.all(started.map((process) => process.kill()));
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await sql.end();
    await provider.stop();
    await service.stop();
    await MariaDbDatabases.shared().drop(databaseUrl);
  });

  const start = async () => {
    const proxy = await new HoldProxy().start(Number(new URL(databaseUrl).port));
    proxies.push(proxy);
    const url = Object.assign(new URL(databaseUrl), { port: `${proxy.port}` }).toString();
    const replica = await ServiceProcess.start({ env: { ...settingsOfProcess, DATABASE_URL: url } });
    started.push(replica);
    return { proxy, replica };
  };
  type Running = Awaited<ReturnType<typeof start>>;

  /** Sends a request, which stops at the point. */
  async function hold<Kind extends { name: string }, Given>(
    { proxy }: Running,
    point: HoldPoint,
    kind: Kind,
    given: Given,
    send: () => Promise<unknown>,
  ): Promise<Victim<Kind, Given>> {
    const { held, writes } = proxy.watch(point);
    const answered = send().then(
      (answer) => expect({ ...point, name: kind.name, answer, writes }).toBe('held'),
      // The kill ends it.
      () => undefined,
    );
    await Promise.race([held, answered]);
    return { kind, given, point, done: writes.slice(0, point.done ? point.write : point.write - 1) };
  }

  const kill = async ({ proxy, replica }: Running) => {
    await replica.kill();
    await eventually(() => proxy.drained, { what: 'the connections of the killed process are closed' });
  };

  it('a change, also of a password, is there with its audit rows and its events, or not at all, and a second try completes it (T320, T770)', async () => {
    const whole = new Map<KilledChange, { writes: readonly Write[]; states: [unknown, unknown] }>();
    let killed: Victim<KilledChange, Attempt>[] = [];

    const rehearse = async ({ proxy, replica }: Running, change: KilledChange) => {
      const attempt = await change.given(world);
      const before = await attempt.state();
      const { writes } = proxy.watch();
      const answer = await attempt.send(replica.url);
      const after = await attempt.state();
      const { name, stages } = change;
      expect({ name, answer, audit: after.audit, events: after.events, commits: commitsIn(writes) }).toEqual({
        ...{ name, answer: change.answer, audit: stages.at(-1), events: stages.at(-1), commits: stages.length - 1 },
      });
      whole.set(change, { writes: [...writes], states: [before, after] });
    };

    const again = async ({ replica }: Running) => {
      for (const { kind: change, given, point, done } of killed) {
        const answer = await (given.again ?? given.send)(replica.url);
        const stage = commitsIn(done);
        const wasMade = stage === change.stages.length - 1;
        const expected = wasMade ? (change.again ?? change.answer) : change.answer;
        expect({ name: change.name, point, answer }).toEqual({ name: change.name, point, answer: expected });
        if (stage > 0 && change.repeats) continue;
        const state = await given.state();
        expect({ name: change.name, point, state }).toEqual({
          name: change.name,
          point,
          state: whole.get(change)!.states[1],
        });
      }
      await sql.query('DELETE FROM event_receivers');
    };

    for (let round = 0; round < rounds; round++) {
      const running = await start();
      await again(running);
      if (round === 0) for (const change of changes) await rehearse(running, change);
      killed = [];
      for (const change of changes) {
        const points = pointsOf(whole.get(change)!.writes, change.atOnce && change.atOnce * rounds);
        for (const point of points.filter((_, n) => n % rounds === round)) {
          const attempt = await change.given(world);
          killed.push(await hold(running, point, change, attempt, () => attempt.send(running.replica.url)));
        }
      }
      // Each holds a connection.
      expect(killed.length).toBeLessThan(pool - 20);
      await kill(running);
      for (const { kind: change, given, point, done } of killed) {
        const stage = commitsIn(done);
        const state = await given.state();
        const { name, stages } = change;
        expect({ name, point, audit: state.audit, events: state.events }).toEqual({
          ...{ name, point, audit: stages[stage], events: stages[stage] },
        });
        const states = whole.get(change)!.states;
        if (stage === 0) expect({ name, point, state }).toEqual({ name, point, state: states[0] });
        if (stage === stages.length - 1) expect({ name, point, state }).toEqual({ name, point, state: states[1] });
      }
    }
    const last = await start();
    await again(last);
    await last.replica.kill();
  });

  it('a code that was being spent is spent once, and a second use is refused (T771)', async () => {
    const running = await start();
    const { proxy, replica } = running;
    const killed: Victim<KilledCode, OneTimeCode & { readonly born: number }>[] = [];
    for (const code of codes) {
      proxy.watch();
      const rehearsed = await code.given(world, replica.url);
      const { writes } = proxy.watch();
      expect({ name: code.name, accepted: await rehearsed.use(replica.url) }).toEqual({
        name: code.name,
        accepted: true,
      });
      const needed = [...writes];
      expect(needed.filter(({ text }) => code.spends.test(text))).toHaveLength(1);
      for (const point of pointsOf(needed)) {
        proxy.watch();
        const born = Date.now();
        const given = { ...(await code.given(world, replica.url)), born };
        killed.push(await hold(running, point, code, given, () => given.use(replica.url)));
      }
    }
    await kill(running);
    const next = await start();
    for (const { kind: code, given, point, done } of killed) {
      const { name } = code;
      const wasSpent = done.some(({ text }) => code.spends.test(text));
      const yielded = await given.yields();
      expect(yielded).toBeLessThanOrEqual(wasSpent ? 1 : 0);
      const first = await given.use(next.replica.url);
      // The code of an application lives for a minute, and a busy machine needs longer to come here.
      const mayHaveExpired = () => Date.now() - given.born > 50_000;
      if (wasSpent || !mayHaveExpired()) expect({ name, point, first }).toEqual({ name, point, first: !wasSpent });
      expect({ name, point, second: await given.use(next.replica.url) }).toEqual({ name, point, second: false });
      const left = code.endsAll ? 0 : first ? 1 : yielded;
      const yields = await given.yields();
      if (!code.endsAll || !mayHaveExpired()) expect({ name, point, yields }).toEqual({ name, point, yields: left });
    }
    await next.replica.kill();
  });
});
