import { createHash, randomUUID } from 'node:crypto';
import { type Connection, createConnection } from 'mysql2/promise';
import { FailoverLoad, type Link } from '../support/failover-load';
import { Replicas } from '../support/replicas';
import { eventually } from '../support/servers/eventually';
import { Galera } from '../support/servers/galera';
import { HaProxy, switchMs } from '../support/servers/haproxy';
import { boundedAnswerMs, password, realTimeLimits, testSettings } from '../support/settings';
import { runProgram } from '../support/run-program';

/** The next good answer comes this long after the switch (docs/spec/extensions.md). */
const recoveryMs = 10_000;
const linksOfEach = 400;
const names = ['ann', 'ben', 'cleo', 'dan'];

/** A fixed hash. No password of this test matches it. */
const oldHash = '$2b$04$abcdefghijklmnopqrstuu5Lr0j4nQZ4Jz6sWq1c9y2mV8tBxKdGi';
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

/** Two replicas reach three nodes through HAProxy, which sends all connections to the first healthy node. */
describe('a database node that fails under load behind HAProxy', () => {
  let cluster: Galera;
  let proxy: HaProxy;
  let replicas: Replicas;
  let databaseUrl: string;

  beforeAll(async () => {
    cluster = await Galera.start({ suspectSeconds: 3 });
    databaseUrl = await cluster.freshDatabase();
    const [first] = cluster.nodes;
    // `read_only` does not bind an account with administrative rights.
    await first!.run("CREATE USER service@'%' IDENTIFIED BY 'account-password'");
    const name = new URL(databaseUrl).pathname.slice(1);
    await first!.run(`GRANT SELECT, INSERT, UPDATE, DELETE ON \`${name}\`.* TO service@'%'`);
    const cli = (args: string[]) =>
      runProgram('dist/src/cli.js', args, {
        env: { ...testSettings, DATABASE_URL: databaseUrl },
        cwd: process.cwd(),
      });
    expect(await cli(['migrate'])).toMatchObject({ code: 0, stderr: '' });
    proxy = await HaProxy.start(cluster.nodes.map((node) => node.urlOf(databaseUrl)));
    const account = { username: 'service', password: 'account-password', port: String(proxy.port) };
    const url = Object.assign(new URL(databaseUrl), account).toString();
    const settings = { ...realTimeLimits, MIGRATE_ON_START: 'false', DATABASE_POOL_SIZE: '5' };
    replicas = await Replicas.start(settings, 2, url);
    for (const user of names) {
      await cli(['user', 'create', '--login-name', user, '--password', password]);
    }
  });
  afterAll(async () => {
    await replicas.stop();
    await proxy.stop();
    await cluster.stop();
  });

  /** Creates users with a link each, by two statements. */
  async function givenLinks(): Promise<Link[]> {
    const links = Array.from({ length: linksOfEach }, () => ({ uid: randomUUID(), token: randomUUID() }));
    await onNode(0, async (sql) => {
      await sql.query(
        `INSERT INTO users (uid, login_name, login_name_key, password, salt, status, tenant_id, created_at) VALUES ?`,
        [links.map(({ uid }) => [uid, uid, uid, oldHash, oldHash.slice(0, 29), 1, 'root', new Date()])],
      );
      const expired = new Date(Date.now() + 3_600_000);
      await sql.query(
        `INSERT INTO user_change_password_request
           (uid, token_hash, user_id, type, status, credential_version, expired, created_at) VALUES ?`,
        [
          links.map(({ uid, token }) => {
            const hash = createHash('sha256').update(token).digest('hex');
            return [randomUUID(), hash, uid, 2, 0, 0, expired, new Date()];
          }),
        ],
      );
    });
    return links;
  }

  async function onNode<T>(n: number, work: (sql: Connection) => Promise<T>): Promise<T> {
    const sql = await createConnection({ uri: cluster.node(n).urlOf(databaseUrl), timezone: 'Z' });
    try {
      return await work(sql);
    } finally {
      sql.destroy();
    }
  }
  const rows = <Row>(n: number, statement: string, values: unknown[] = []) =>
    onNode(n, async (sql) => (await sql.query(statement, values))[0] as Row[]);

  /** What was answered with success is stored on the node, and nothing is stored by halves. */
  async function expectWhole(n: number, load: FailoverLoad, links: readonly Link[]): Promise<void> {
    const stored = await rows<{ jti: string; is_revoked: number }>(n, 'SELECT jti, is_revoked FROM login_tokens');
    const known = new Set(stored.map(({ jti }) => jti));
    expect(load.issued.filter((jti) => !known.has(jti))).toEqual([]);
    // A login whose answer was lost has written both of its tokens, or none.
    expect(stored.length % 2).toBe(0);
    const uids = links.map(({ uid }) => uid);
    const states = await rows<{ uid: string; state: string }>(n, state, [oldHash, uids]);
    const stateOf = new Map(states.map((row) => [row.uid, row.state]));
    for (const { uid, status } of links) {
      expect([before, after]).toContain(stateOf.get(uid));
      if (status === 200) expect(stateOf.get(uid)).toBe(after);
      if (status === undefined) expect(stateOf.get(uid)).toBe(before);
    }
  }

  /** @param answers whether the failed node can still be asked */
  async function expectNoConnection(answers: boolean): Promise<void> {
    // HAProxy may still be closing the last one.
    const none = async () => {
      const [first] = await proxy.servers();
      return first?.up === false && first.connections === 0;
    };
    await eventually(none, { what: 'no connection to the old node', timeout: 20_000 });
    if (!answers) return;
    const connected = (await cluster.node(0).run('SHOW PROCESSLIST')) as { User: string }[];
    expect(connected.filter(({ User }) => User === 'service')).toEqual([]);
  }

  const faults: [
    what: string,
    fail: () => Promise<unknown>,
    heal: (() => Promise<unknown>) | undefined,
    /** Whether the failed node can still be asked for its connections. */
    answers: boolean,
  ][] = [
    [
      'made read-only',
      () => cluster.node(0).run('SET GLOBAL read_only = 1'),
      () => cluster.node(0).run('SET GLOBAL read_only = 0'),
      true,
    ],
    ['cut off from the other nodes', () => cluster.node(0).isolate(true), () => cluster.node(0).isolate(false), true],
    ['frozen (SIGSTOP)', () => cluster.node(0).suspend(), () => cluster.node(0).resume(), false],
    ['killed (SIGKILL)', () => cluster.node(0).kill(), undefined, false],
  ];

  it.each(faults)(
    'the node in use is %s: every request is answered in time, another node takes over, and nothing is half done',
    async (_, fail, heal, answers) => {
      await eventually(async () => (await proxy.servers())[0]?.up, { what: 'the first node is in use' });
      const links = await givenLinks();
      const load = new FailoverLoad(replicas.services, names, links);
      try {
        await load.succeeds(30);
        expect((await proxy.servers())[0]?.connections).toBeGreaterThan(0);
        const failed = performance.now();
        await fail();
        await eventually(async () => (await proxy.servers())[0]?.up === false, { what: 'the switch', interval: 5 });
        const switched = performance.now();
        await load.succeeds();
        const good = performance.now();
        await load.succeeds(30);
        await expectNoConnection(answers);
        await load.stop();

        // A busy machine delays everything by about as much as it delays the switch.
        const machineMs = Math.max(0, switched - failed - switchMs);
        expect(good - switched).toBeLessThan(recoveryMs + machineMs);
        const others = load.outcomes.filter(({ status }) => status !== 200);
        expect(others.filter(({ status, code }) => status !== 503 || code !== 'COMMON_503001')).toEqual([]);
        expect(Math.max(...load.outcomes.map(({ from, to }) => to - from))).toBeLessThan(boundedAnswerMs + machineMs);
        await expectWhole(1, load, links);
        for (const token of load.ended.slice(-20)) {
          const me = await replicas.get('/user/me', 0, { authorization: `Bearer ${token}` });
          expect(me.body.error_code).toBe('AUTH_401004');
        }
      } finally {
        await load.stop();
        await heal?.();
      }
      if (heal === undefined) return;
      // A node that goes on after a while still has its old view at first.
      await eventually(() => cluster.node(1).isSynced(), { what: 'the node returns' });
      await eventually(() => cluster.node(0).isSynced(), { what: 'the node has caught up' });
      await expectWhole(0, load, links);
    },
  );

  it('no replica was restarted, and none answered with an internal error', () => {
    for (const { lines } of replicas.services) {
      expect(lines.filter((line) => /COMMON_500|uncaught|unhandled/i.test(line))).toEqual([]);
    }
  });
});
