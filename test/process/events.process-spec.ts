import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import '../support/servers/slow-tests';
import type { EventLimits } from '../../src/events/event-limits';
import { EventReceivers } from '../../src/events/event-receivers';
import type { ReceiverLimits } from '../../src/events/receiver-limits';
import { eventStatus } from '../../src/events/outbox/outbox-event.entity';
import { migratedDatabase, type TestDatabase } from '../support/database';
import { EventReplica } from '../support/events/event-replica';
import { accept, answer, WebhookReceiver, webhookSecret } from '../support/events/webhook-receiver';
import { FakeClock } from '../support/fakes';
import { Replicas } from '../support/replicas';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, password, patientDatabase, testSettings } from '../support/settings';

const users = 20;
const each = 10;

describe('replicas as processes', () => {
  let store: TestDatabase;
  let receiver: WebhookReceiver;
  /** Queues events and reads the tables. It sends nothing. */
  let observer: EventReplica;
  let processes: ServiceProcess[];

  beforeEach(async () => {
    store = await migratedDatabase();
    receiver = await WebhookReceiver.start();
    observer = await EventReplica.start(store.url, {
      settings: receiver.settings,
      clock: new FakeClock(new Date()),
    });
    processes = [];
  });

  afterEach(async () => {
    for (const process of processes) await process.stop();
    await observer.stop();
    await receiver.stop();
    await store.drop();
  });

  async function sender(
    settings: Record<string, string>,
    limits: Partial<EventLimits>,
    ofReceivers: Partial<ReceiverLimits> = {},
  ): Promise<ServiceProcess> {
    const started = await ServiceProcess.start({
      script: 'test/support/events/event-process.mjs',
      args: [JSON.stringify(limits), JSON.stringify(ofReceivers)],
      env: { ...testSettings, DATABASE_URL: store.url, ...settings },
      ready: /^ready$/,
    });
    processes.push(started);
    return started;
  }

  it('one of two is killed while it sends: every event arrives, each user in order, never two at a time while leases hold (T328)', async () => {
    const limits = { leaseMs: 12_000, sendMs: 10_000, pollMs: 100 };
    const [victim] = [await sender(receiver.settings, limits), await sender(receiver.settings, limits)];
    const underWay = new Map<string, number>();
    let [most, killed] = [0, false];
    receiver.behaviour = (event, response, request) => {
      const user = String(event.data.user_id);
      underWay.set(user, (underWay.get(user) ?? 0) + 1);
      // A POST of the killed process ends at the kill, but its stream is still leased.
      if (!killed) most = Math.max(most, underWay.get(user)!);
      setTimeout(() => {
        underWay.set(user, underWay.get(user)! - 1);
        accept(event, response, request);
      }, 5);
    };
    for (let n = 1; n <= each; n++) for (let user = 0; user < users; user++) await observer.record(`user-${user}`, n);
    await eventually(() => receiver.accepted.length >= 40, { what: 'both are sending', interval: 1 });
    killed = true;
    await victim.kill();
    const total = users * each;
    const ids = () => new Set(receiver.accepted.map(({ id }) => id)).size;
    await eventually(() => ids() === total, { what: 'every event arrives', timeout: 120_000 });
    const expected = String(Array.from({ length: each }, (_, n) => n + 1));
    expect(new Set(Object.values(receiver.order()).map(String))).toEqual(new Set([expected]));
    expect(most).toBe(1);
    // Only the POSTs of the victim at its kill may come twice.
    expect(receiver.accepted.length - total).toBeLessThanOrEqual(8);
    await eventually(async () => (await observer.count('event_streams')) === 0, { what: 'no stream is left' });
    expect((await observer.rows()).every(({ status }) => Number(status) === eventStatus.sent)).toBe(true);
  });

  it('further receivers: one process is killed between two POSTs of both, and the two others send each its events once and in order', async () => {
    const [settings, clock] = [{ EVENT_RECEIVERS: 'on' }, new FakeClock(new Date())];
    const recorder = await EventReplica.start(store.url, { settings, clock });
    const other = await WebhookReceiver.start();
    const limits = { leaseMs: 12_000, sendMs: 10_000, postMs: 8_000, turnMs: 300, pollMs: 100 };
    const start = () => sender(settings, {}, limits);
    const total = 60;
    let killed = false;
    for (const [id, one] of Object.entries({ receiver, other })) {
      // The POST that the victim waits for at its kill is never accepted, so no event comes twice.
      one.behaviour = (event, response, request) => {
        if (killed || one.accepted.length < total / 2) accept(event, response, request);
      };
      const receivers = recorder.get(EventReceivers);
      const position = await receivers.newest();
      const row = { url: one.url, format: 'native' as const, types: [], tenants: [], audience: null, enabled: true };
      await recorder.database.transaction((tx) =>
        receivers.insert(tx, { ...row, id, secret: webhookSecret, position }),
      );
    }
    const victim = await start();
    for (let n = 1; n <= total; n++) await recorder.record(`user-${n % 3}`, n);
    const held = () => [receiver, other].every(({ seen }) => seen.length > total / 2);
    await eventually(held, { what: 'the victim waits for both', timeout: 120_000 });
    await Promise.all([start(), start()]);
    await victim.kill();
    killed = true;
    const all = () => [receiver, other].every(({ accepted }) => accepted.length >= total);
    await eventually(all, { what: 'every event arrives', timeout: 120_000 });
    const expected = Array.from({ length: total }, (_, n) => n + 1);
    for (const { accepted } of [receiver, other]) {
      expect(accepted.map(({ data }) => Number(data.detail.n))).toEqual(expected);
    }
    await recorder.stop();
    await other.stop();
  });
});

describe('the built program', () => {
  const audit = (lines: readonly string[]) =>
    lines.flatMap((line) => {
      const parsed = JSON.parse(line) as { log?: string; type: string; data: Record<string, unknown> };
      return parsed.log === 'audit' ? [parsed] : [];
    });

  it('AUDIT_STREAM: each row of both logs is one line of the log; commands print their answer only, and webhooks have all', async () => {
    const receiver = await WebhookReceiver.start();
    const replicas = await Replicas.start({ AUDIT_STREAM: 'stdout', ...receiver.settings }, 1);
    const [service] = replicas.services;
    // Commands with this setting print nothing but their answer: `givenUser` parses it.
    await replicas.givenUser('alice');
    const requests = Array.from({ length: 30 }, (_, n) =>
      n % 3 === 0 ? replicas.login('alice') : replicas.login(n % 3 === 1 ? 'nobody' : 'alice', 'wrong'),
    );
    await Promise.all(requests);
    const ids = async (table: string) => (await replicas.rows(`SELECT id FROM ${table}`)).map(({ id }) => String(id));
    const logins = await ids('login_logs');
    // A request that was refused for overload may have written its row.
    expect(logins.length).toBeGreaterThanOrEqual(30);
    await eventually(() => audit(service!.lines).length >= logins.length, { what: 'every line' });
    const lines = audit(service!.lines);
    expect(new Set(lines.map(({ data }) => data.id))).toEqual(new Set(logins));
    expect(new Set(lines.map(({ type }) => type))).toEqual(new Set(['login.succeeded', 'login.failed']));
    expect(service!.lines.some((line) => line.includes('"/login"') || line.includes('request'))).toBe(true);
    await receiver.waitFor(logins.length + 1);
    expect(receiver.accepted.filter(({ type }) => type === 'user.created')).toMatchObject([
      { data: { actor_id: expect.any(String) } },
    ]);
    await replicas.stop();
    await receiver.stop();
  });

  it('events list, show, retry and replay, and webhook test: an operator sends again what the receiver has refused or lost', async () => {
    const [store, receiver] = [await migratedDatabase(), await WebhookReceiver.start()];
    const clock = new FakeClock(new Date());
    const sender = await EventReplica.start(store.url, { settings: receiver.settings, clock });
    const run = (settings: Record<string, string>, ...args: string[]) => {
      const env = { ...testSettings, DATABASE_URL: store.url, ...settings };
      return runProgram('dist/src/cli.js', args, { env, cwd: tmpdir() });
    };
    const json = async (...args: string[]) => {
      const { code, stdout, stderr } = await run(receiver.settings, ...args, '--json');
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
      return JSON.parse(stdout);
    };
    const refused = async (settings: Record<string, string>, ...args: string[]) => {
      const { code, stdout, stderr } = await run(settings, ...args);
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
      return stderr;
    };
    const send = async () => {
      clock.advanceSeconds(300);
      await sender.sendDue();
    };
    const from = clock.now().toISOString();
    for (const n of [1, 2]) await sender.record('alice', n);
    await sender.sendDue();
    const [first, second] = receiver.accepted;
    await sender.database.affected('UPDATE event_outbox SET status = ? WHERE event_id = ?', [
      eventStatus.dead,
      first!.id,
    ]);
    receiver.seen.splice(0);

    expect(await json('events', 'list', '--status', 'dead')).toMatchObject([{ id: first!.id, user_id: 'alice' }]);
    expect(await json('events', 'show', first!.id)).toMatchObject({ payload: JSON.parse(first!.body) as object });
    expect(await json('events', 'retry', first!.id)).toEqual({ id: first!.id, result: true });
    expect(await refused({}, 'events', 'retry', first!.id)).toContain('that was given up');
    await send();
    expect(receiver.accepted.filter(({ type }) => type === 'user.unlocked')).toMatchObject([{ id: first!.id }]);
    expect(receiver.accepted.map(({ type }) => type)).toContain('webhook.event_retried');

    receiver.seen.splice(0);
    const to = new Date(Date.now() + 600_000).toISOString();
    // The event about the retry was sent as well.
    expect(await json('events', 'replay', '--from', from, '--to', to)).toEqual({ queued: 3, skipped: 0 });
    await send();
    const again = receiver.accepted.filter(({ type }) => type === 'user.unlocked');
    expect(again.map(({ body }) => (JSON.parse(body) as { replay_of: string }).replay_of)).toEqual([
      first!.id,
      second!.id,
    ]);
    expect(await refused({}, 'events', 'replay', '--from', '2026-03-02', '--to', to)).toContain(
      '--from must be a time',
    );

    receiver.seen.splice(0);
    expect(await json('webhook', 'test')).toEqual({ result: true });
    expect(receiver.accepted).toMatchObject([{ type: 'webhook.test', data: {} }]);
    receiver.behaviour = answer(500);
    expect(await refused(receiver.settings, 'webhook', 'test')).toContain('the receiver has not accepted the event');
    expect(await refused({}, 'webhook', 'test')).toContain('WEBHOOK_URL is not set');
    const audits = await sender.database.rows<{ event: string; actor_id: string | null }>(
      "SELECT event, actor_id FROM audit_logs WHERE event LIKE '%EVENT%' OR event = 'WEBHOOK_TESTED' ORDER BY id",
    );
    expect(audits.map(({ event }) => event)).toEqual([
      'EVENT_RETRIED',
      'EVENTS_REPLAYED',
      ...Array<string>(2).fill('WEBHOOK_TESTED'),
    ]);
    expect(audits.every(({ actor_id: actor }) => actor !== null)).toBe(true);
    await sender.stop();
    await receiver.stop();
    await store.drop();
  });

  it('nobody reads standard output: logins are answered, and the lines that wait are bounded (T329)', async () => {
    const store = await migratedDatabase();
    const port = await freePort();
    const env = { ...testSettings, ...patientDatabase, LOG_LEVEL: 'error', DATABASE_URL: store.url };
    // A child whose standard output is a pipe that this test never reads.
    const child = spawn(process.execPath, ['dist/src/main.js'], {
      env: { PATH: process.env.PATH, ...env, AUDIT_STREAM: 'stdout', RATE_LIMIT: 'off', PORT: String(port) },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.pause();
    const url = `http://127.0.0.1:${port}`;
    const ready = async () => (await fetch(`${url}/health/ready`)).status === 200;
    await eventually(ready, { what: 'the service is ready' });
    const body = JSON.stringify({ username: 'x'.repeat(200), password, captcha_token: captchaToken });
    const login = () =>
      fetch(`${url}/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'y'.repeat(500) },
        body,
      }).then(({ status }) => status);
    // 600 lines of a kilobyte are more than a pipe, and what Node reads ahead, can hold.
    const answers: number[] = [];
    for (let burst = 0; burst < 60; burst++) answers.push(...(await Promise.all(Array.from({ length: 10 }, login))));
    expect(new Set(answers)).toEqual(new Set([404]));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    await store.drop();
  });
});
