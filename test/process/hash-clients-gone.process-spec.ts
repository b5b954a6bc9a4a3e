import { dummyHash } from '../../src/hashing/bcrypt-format';
import { jsonRequest, RawConnection } from '../support/raw-http';
import { Replicas } from '../support/replicas';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { captchaToken } from '../support/settings';

/** A hash takes 0.25 s of a core: long enough for the service to notice that a client has disconnected. */
const cost = 12;
const slow = dummyHash(cost);

/** One process with one hash thread. Clients wait for their hash and close the connection. */
describe('clients that hang up while they wait for a hash', () => {
  let replicas: Replicas;
  let metricsPort: number;

  beforeAll(async () => {
    metricsPort = await freePort();
    const settings = {
      HASH_THREADS: '1',
      BCRYPT_COST: `${cost}`,
      HASH_QUEUE_MAX_WAIT_MS: '600000',
      MAX_LOCK_COUNT: '1000',
      METRICS_PORT: `${metricsPort}`,
    };
    replicas = await Replicas.start(settings, 1);
  });
  afterAll(() => replicas.stop());

  const port = () => replicas.services[0]!.port;
  const login = (username: string) =>
    jsonRequest('/login', { username, password: 'wrong', captcha_token: captchaToken });

  /** The metrics of the hash queue. */
  async function jobs() {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const value = (name: string) => Number(new RegExp(`^auth_hash_${name} (\\d+)$`, 'm').exec(text)?.[1]);
    return {
      waiting: value('queue_waiting'),
      running: value('queue_running'),
      completed: value('jobs_total{outcome="completed"}'),
      abandoned: value('jobs_total{outcome="abandoned"}'),
    };
  }

  /** Sends each guess on its own connection. Resolves when all guesses have reached the hash engine. */
  async function guesses(count: number, username: string): Promise<RawConnection[]> {
    const before = await jobs();
    const clients = await Promise.all(Array.from({ length: count }, () => RawConnection.open(port())));
    for (const client of clients) client.send(login(username));
    await eventually(
      async () => {
        const now = await jobs();
        // A thread that is running has one job or two.
        return now.waiting + 2 * now.running + now.completed >= before.completed + count;
      },
      { what: 'all guesses wait', interval: 20 },
    );
    return clients;
  }

  const idle = () =>
    eventually(
      async () =>
        Object.values(await jobs())
          .slice(0, 2)
          .join() === '0,0',
      {
        what: 'nothing waits or runs',
        timeout: 240_000,
      },
    );

  it('the jobs of 30 clients leave the queue, and only hashes that already run are computed', async () => {
    const clients = await guesses(30, 'nobody');
    const before = await jobs();
    await Promise.all(clients.map((client, n) => (n % 2 ? client.end() : client.reset())));
    await idle();
    const after = await jobs();
    // Two ran in the thread, and more may have started before the service noticed, which takes a while on a busy machine.
    // Without the abort signal all 30 run, and 15 if only one way to hang up had it.
    expect(after.completed - before.completed).toBeLessThanOrEqual(10);
    expect(after.abandoned).toBeGreaterThanOrEqual(before.waiting - 8);
  });

  it('hanging up gives no free guess: each compared password is counted, and no other', async () => {
    const { uid } = await replicas.cli('user', 'create', '--login-name', 'target', '--password', 'Correct-Horse-7');
    await replicas.rows('UPDATE users SET password = ? WHERE uid = ?', [slow, uid]);
    const before = await jobs();
    for (let round = 0; round < 3; round++) {
      const clients = await guesses(8, 'target');
      await Promise.all(clients.map((client) => client.reset()));
      await idle();
    }
    const after = await jobs();
    const judged = after.completed - before.completed;
    expect(judged).toBeGreaterThan(0);
    expect(judged).toBeLessThan(24);
    const counted = async () => ({
      failures: (await replicas.rows('SELECT login_failed_count AS n FROM users WHERE uid = ?', [uid]))[0]?.n as number,
      journal: (await replicas.rows('SELECT id FROM login_logs WHERE user_id = ?', [uid])).length,
    });
    await eventually(async () => (await counted()).journal >= judged, { what: 'what was judged is written' });
    expect(await counted()).toEqual({ failures: judged, journal: judged });
  });

  it('the log contains no error and no stack for clients that hang up', () => {
    const lines = replicas.services[0]!.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.filter(({ err }) => err !== undefined)).toEqual([]);
    expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});
