import { AuditTrail } from '../../src/audit/audit-trail';
import { LoginJournal } from '../../src/audit/login-journal';
import { checkEvents } from '../../src/admin/checks/peer-checks';
import { EventOutbox } from '../../src/events/event-outbox';
import { eventStatus, fresh } from '../../src/events/outbox/outbox-event.entity';
import { EventRows } from '../../src/events/outbox/outbox-event.repository';
import { streamStatus } from '../../src/events/outbox/event-stream.entity';
import { EventStreams } from '../../src/events/outbox/event-stream.repository';
import type { ClientInfo } from '../../src/shared/client-info';
import { migratedDatabase, type TestDatabase } from '../support/database';
import { EventReplica, testEventLimits } from '../support/events/event-replica';
import { webhookFault } from '../support/events/verify-webhook';
import { accept, answer, type Behaviour, WebhookReceiver, webhookSecret } from '../support/events/webhook-receiver';
import { FakeClock } from '../support/fakes';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';

const mariadb = __DATABASE__ === 'mariadb';
const client = { ip: '192.0.2.7', userAgent: 'Firefox', requestId: 'request-1' } as ClientInfo;
const failedLogin = { userId: null, loginName: 'nobody', provider: 'password', mfa: null, outcome: 'LOGIN_404001' };

let store: TestDatabase;
let clock: FakeClock;
let receiver: WebhookReceiver;
let replicas: EventReplica[];

/** Sends nothing. It clears the tables after the other replicas have stopped. */
let cleaner: EventReplica;
beforeAll(async () => {
  store = await migratedDatabase();
  cleaner = await EventReplica.start(store.url);
});
afterAll(async () => {
  await cleaner.stop();
  await store.drop();
});

beforeEach(async () => {
  clock = new FakeClock();
  receiver = await WebhookReceiver.start();
  replicas = [];
});

afterEach(async () => {
  for (const replica of replicas) await replica.stop();
  await receiver.stop();
  for (const table of ['event_outbox', 'event_streams', 'audit_logs', 'login_logs']) {
    await cleaner.database.affected(`DELETE FROM ${table}`);
  }
});

async function replica(options: Parameters<typeof EventReplica.start>[1] = {}): Promise<EventReplica> {
  const settings = { ...receiver.settings, ...options.settings };
  const started = await EventReplica.start(store.url, { clock, ...options, settings });
  replicas.push(started);
  return started;
}

const statuses = async (sender: EventReplica) => (await sender.rows()).map(({ status }) => Number(status));

describe('an event and the transaction that causes it', () => {
  it('has the columns of its audit row and a signature that another implementation verifies (T325)', async () => {
    const sender = await replica();
    await sender.record('alice', 1);
    await sender.sendDue();
    const [event] = receiver.accepted;
    const [row] = await sender.database.rows<{ id: number }>('SELECT id FROM audit_logs');
    expect(event?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(JSON.parse(event!.body)).toEqual({
      type: 'user.unlocked',
      timestamp: clock.now().toISOString(),
      data: {
        id: String(row?.id),
        event: 'USER_UNLOCKED',
        user_id: 'alice',
        actor_id: null,
        ip: null,
        user_agent: null,
        request_id: null,
        detail: { n: 1 },
        created_at: clock.now().toISOString(),
      },
    });
    expect(webhookFault(webhookSecret, event!, clock.now())).toBeUndefined();
    const changed = { ...event!, body: event!.body.replace('alice', 'mallory') };
    expect(webhookFault(webhookSecret, changed, clock.now())).toBe('wrong signature');
    const sent = { status: eventStatus.sent, payload: event!.body, sent_at: expect.anything() as unknown };
    expect(await sender.rows()).toMatchObject([sent]);
    expect(await sender.count('event_streams')).toBe(0);
  });

  it('a rollback leaves no event (T328)', async () => {
    const sender = await replica();
    const work = sender.database.transaction(async (tx) => {
      await sender.record('alice', 1, tx);
      throw new Error('the change failed');
    });
    await expect(work).rejects.toThrow('the change failed');
    await sender.sendDue();
    expect([await sender.count('audit_logs'), await sender.count('event_outbox'), receiver.seen]).toEqual([0, 0, []]);
  });

  it('a row that is written without a transaction exists together with its event, or not at all (T328)', async () => {
    const sender = await replica();
    await sender.get(LoginJournal).failed(failedLogin, client);
    await sender.database.affected('ALTER TABLE event_outbox RENAME TO away');
    await sender.get(LoginJournal).failed(failedLogin, client);
    await expect(sender.record('alice', 1)).rejects.toThrow();
    await sender.database.affected('ALTER TABLE away RENAME TO event_outbox');
    expect([await sender.count('login_logs'), await sender.count('event_outbox')]).toEqual([1, 1]);
    expect(await sender.count('audit_logs')).toBe(0);
    await sender.sendDue();
    expect(receiver.accepted).toMatchObject([{ type: 'login.failed', data: { login_name: 'nobody', ip: client.ip } }]);
  });

  it('without WEBHOOK_URL there is no event, and figures say that webhooks are off', async () => {
    const sender = await replica({ settings: { WEBHOOK_URL: '', WEBHOOK_SECRET: '' } });
    await sender.record('alice', 1);
    await sender.sendDue();
    expect([await sender.count('audit_logs'), await sender.count('event_outbox')]).toEqual([1, 0]);
    expect(await sender.get(EventOutbox).figures()).toBeUndefined();
  });

  it('is sent soon after the commit, without waiting for the poll', async () => {
    const sender = await replica({ limits: { nudgeMs: 1 } });
    await sender.record('alice', 1);
    await receiver.waitFor(1);
  });

  it('is found by the poll when another process has queued it', async () => {
    await replica({ limits: { pollMs: 50 } });
    await (await replica()).record('alice', 1);
    await receiver.waitFor(1);
  });
});

describe('the order of the events of one user', () => {
  const refuse =
    (user: string): Behaviour =>
    (event, response, request) =>
      (event.data.user_id === user ? answer(500) : accept)(event, response, request);

  it('a later event is not sent before the earlier one is settled, and other users do not wait', async () => {
    const sender = await replica();
    receiver.behaviour = refuse('alice');
    for (const n of [1, 2, 3]) for (const user of ['alice', 'bob']) await sender.record(user, n);
    await sender.record(undefined, 4);
    await sender.sendDue();
    expect(receiver.order()).toEqual({ bob: [1, 2, 3], null: [4] });
    await sender.sendOverTime(10);
    expect(new Set(receiver.seen.filter((e) => e.data.user_id === 'alice').map((e) => e.data.detail.n))).toEqual(
      new Set([1]),
    );
    receiver.behaviour = accept;
    await sender.sendOverTime(10);
    expect(receiver.order()).toMatchObject({ alice: [1, 2, 3] });
    // Each attempt has the same id, so the receiver recognises a repetition, and a signature of its own time.
    const first = receiver.seen.filter((e) => e.data.user_id === 'alice' && e.data.detail.n === 1);
    expect(new Set(first.map(({ id }) => id)).size).toBe(1);
    expect(new Set(first.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(first.length);
    expect(await sender.count('event_streams')).toBe(0);
  });

  it('twenty users whose events fail do not hold up another user (T327)', async () => {
    const sender = await replica({ limits: { concurrency: 2 } });
    receiver.behaviour = (event, response, request) =>
      (event.data.user_id === 'bob' ? accept : answer(500))(event, response, request);
    for (let n = 0; n < 20; n++) await sender.record(`user-${n}`, n);
    await sender.sendDue();
    clock.advanceSeconds(3600);
    const before = receiver.seen.length;
    await sender.record('bob', 1);
    await sender.sendDue();
    expect(receiver.order()).toEqual({ bob: [1] });
    // The other lane paused after its first failures.
    expect(receiver.seen.length - before).toBeLessThanOrEqual(1 + 2 * 2);
  });

  describe('a flood of failed logins with unknown names', () => {
    const flood = async (sender: EventReplica) => {
      for (let n = 0; n < 20; n++) {
        await sender.get(LoginJournal).failed({ ...failedLogin, loginName: `nobody-${n}` }, client);
      }
    };
    const known: Behaviour = (event, response, request) =>
      (event.data.login_name === undefined ? accept : answer(500))(event, response, request);

    it('does not delay the events of a user, while the receiver hangs at its events (T327)', async () => {
      const sender = await replica({ limits: { concurrency: 2 } });
      let proceed = (): void => undefined;
      const held = new Promise<void>((resolve) => (proceed = resolve));
      receiver.behaviour = (event, response, request) => {
        if (event.data.login_name === undefined) accept(event, response, request);
        else void held.then(() => accept(event, response, request));
      };
      await flood(sender);
      for (const n of [1, 2]) await sender.record('alice', n);
      const sending = sender.sendDue();
      await receiver.waitFor(2);
      expect(receiver.order()).toEqual({ alice: [1, 2] });
      proceed();
      await sending;
      expect(receiver.accepted).toHaveLength(22);
      expect(await sender.count('event_streams')).toBe(0);
    });

    it('does not delay the retries of a user, while the receiver refuses its events (T327)', async () => {
      const sender = await replica({ limits: { concurrency: 2 } });
      receiver.behaviour = answer(503);
      await flood(sender);
      await sender.record('alice', 1);
      await sender.sendDue();
      receiver.behaviour = known;
      clock.advanceSeconds(60);
      await sender.sendDue();
      expect(receiver.order()).toEqual({ alice: [1] });
      receiver.behaviour = accept;
      await sender.sendOverTime(3600, 60);
      expect(receiver.accepted).toHaveLength(21);
    });

    it('delays the admission of no event of a user, and an administrator who is the actor is no stranger', async () => {
      const sender = await replica();
      await flood(sender);
      await sender.get(AuditTrail).record(sender.database, 'CONFIG_CHANGED', { actor: { id: 'root-admin', client } });
      const streams = sender.get(EventStreams);
      await streams.admit(fresh.known);
      expect(await sender.get(EventRows).fresh(fresh.anonymous, 100)).toHaveLength(20);
      expect(await streams.claim(streamStatus.anonymous, 100)).toEqual([]);
      await streams.admit(fresh.anonymous);
      expect(await streams.claim(streamStatus.anonymous, 100)).toHaveLength(20);
      expect(await streams.claim(streamStatus.ready, 100)).toHaveLength(1);
    });
  });

  it('two replicas that send at the same time send each event once, and each user in order', async () => {
    const [one, two] = [await replica(), await replica()];
    const count = 8;
    for (let n = 1; n <= count; n++) {
      await Promise.all(Array.from({ length: 10 }, (_, user) => (user % 2 === 0 ? one : two).queue(`user-${user}`, n)));
      if (n === count / 2) await Promise.all([one.sendDue(), two.sendDue()]);
    }
    await Promise.all([one.sendDue(), two.sendDue()]);
    await one.sendDue();
    expect(receiver.seen).toHaveLength(10 * count);
    const expected = Array.from({ length: count }, (_, n) => n + 1);
    expect(new Set(Object.values(receiver.order()).map(String))).toEqual(new Set([String(expected)]));
    expect(await one.count('event_streams')).toBe(0);
    if (mariadb) expect(await MariaDbDatabases.shared().deadlocks(store.url)).toEqual([]);
  });

  it('an event that arrives while the owner of its stream finishes is neither lost nor sent twice', async () => {
    const [one, two] = [await replica(), await replica()];
    for (let round = 0; round < 15; round++) {
      await one.queue('alice', 2 * round);
      await Promise.all([one.sendDue(), two.queue('alice', 2 * round + 1).then(() => two.sendDue())]);
    }
    await one.sendDue();
    expect(receiver.seen).toHaveLength(30);
    expect(receiver.order().alice).toEqual(Array.from({ length: 30 }, (_, n) => n));
    expect(await one.count('event_streams')).toBe(0);
  });

  it('an event that is admitted between the look of the owner and the deletion keeps the stream', async () => {
    const sender = await replica();
    const streams = sender.get(EventStreams);
    await sender.record('alice', 1);
    await streams.admit(fresh.known);
    const [owned] = await streams.claim(streamStatus.ready, 1);
    const rows = sender.get(EventRows);
    await rows.settle((await rows.first('alice'))!, eventStatus.sent);
    expect(await rows.first('alice')).toBeUndefined();
    const look = jest.spyOn(rows, 'anyWaits').mockImplementationOnce(async () => {
      await sender.record('alice', 2);
      await streams.admit(fresh.known);
      return false;
    });
    expect(await streams.release(owned!)).toBe(true);
    look.mockRestore();
    await sender.sendDue();
    expect(receiver.order()).toEqual({ alice: [2] });
  });

  if (mariadb)
    it('transactions that overlap have no order, none is lost, and one that waits for the other comes second', async () => {
      const sender = await replica();
      let commitFirst!: () => void;
      const held = new Promise<void>((resolve) => (commitFirst = resolve));
      let inserted!: () => void;
      const begun = new Promise<void>((resolve) => (inserted = resolve));
      await sender.database.affected(
        "INSERT INTO cooldowns (subject, kind, until) VALUES ('alice', 'otp', '2026-01-01')",
      );
      const lock = "UPDATE cooldowns SET until = ? WHERE subject = 'alice'";
      const first = sender.database.transaction(async (tx) => {
        await tx.affected(lock, [clock.now()]);
        await sender.record('alice', 1, tx);
        inserted();
        await held;
      });
      await begun;
      // Does not wait for the lock, commits first, and is sent first although its id is greater.
      await sender.record('alice', 2);
      await sender.sendDue();
      // Waits for the lock of the first one, so it comes after it.
      const third = sender.database.transaction(async (tx) => {
        await tx.affected(lock, [clock.now()]);
        await sender.record('alice', 3, tx);
      });
      commitFirst();
      await Promise.all([first, third]);
      await sender.sendDue();
      expect(receiver.order()).toEqual({ alice: [2, 1, 3] });
      await sender.database.affected("DELETE FROM cooldowns WHERE subject = 'alice'");
    });
});

describe('a receiver that misbehaves', () => {
  const endless: Behaviour = (event, response) => {
    event.accepted = true;
    response.writeHead(200);
    const more = () => {
      while (response.write(Buffer.alloc(65_536)));
      response.once('drain', more);
    };
    more();
  };
  const hangAfterHeaders: Behaviour = (event, response) => {
    event.accepted = true;
    response.writeHead(200, { 'content-length': '10' }).write('x');
  };

  it.each<[string, Behaviour, number]>([
    ['200 with an error in its body', answer(200, {}, '{"error":"out of order"}'), 1],
    ['200 with an endless body', endless, 1],
    ['200 with a body that never ends', hangAfterHeaders, 1],
  ])('answers %s: the event has arrived and is not sent again', async (_what, behaviour, attempts) => {
    const sender = await replica();
    receiver.behaviour = behaviour;
    await sender.record('alice', 1);
    await sender.sendDue();
    await sender.sendOverTime(3600, 600);
    expect(receiver.seen).toHaveLength(attempts);
    expect(await statuses(sender)).toEqual([eventStatus.sent]);
  });

  it.each<[string, RegExp, Behaviour]>([
    ['answers 500', /^status 500$/, answer(500)],
    ['answers 410', /^status 410$/, answer(410)],
    [
      'resets the connection',
      /^(ECONNRESET|UND_ERR_SOCKET)$/,
      (_event, _response, request) => request.socket.resetAndDestroy(),
    ],
    ['hangs', /^timeout$/, () => undefined],
  ])('%s: the event is sent again until it is accepted (T327)', async (_what, failure, behaviour) => {
    const sender = await replica(failure.test('timeout') ? { limits: { sendMs: 300 } } : {});
    receiver.behaviour = behaviour;
    await sender.record('alice', 1);
    await sender.sendDue();
    expect(await statuses(sender)).toEqual([eventStatus.waiting]);
    const [told] = sender.logLines.filter((line) => line.includes('did not accept'));
    expect((JSON.parse(told!) as { failure: string }).failure).toMatch(failure);
    receiver.behaviour = accept;
    // A busy machine may exceed the short time-out of the hanging receiver, so there are several attempts.
    await sender.sendOverTime(60, 2);
    expect(receiver.accepted[0]?.data.detail.n).toBe(1);
    expect(sender.logLines.join()).not.toMatch(/127\.0\.0\.1|whsec|alice/);
  });

  it.each([301, 302, 307, 308])(
    'redirects with %i to an address of the inside: nobody is asked there (T326)',
    async (status) => {
      const sender = await replica();
      const inside = await WebhookReceiver.start();
      receiver.behaviour = answer(status, { location: inside.url });
      await sender.record('alice', 1);
      await sender.sendDue();
      await sender.sendOverTime(4, 2);
      expect(inside.connections).toBe(0);
      expect(receiver.seen.length).toBeGreaterThan(1);
      expect(await statuses(sender)).toEqual([eventStatus.waiting]);
      expect(sender.logLines.join()).toContain('"failure":"redirect"');
      await inside.stop();
    },
  );

  it('is down for an hour: every event arrives afterwards, in order, and few attempts were made', async () => {
    const sender = await replica();
    await receiver.stop();
    for (let n = 1; n <= 3; n++) for (let user = 0; user < 5; user++) await sender.record(`user-${user}`, n);
    await sender.sendDue();
    await sender.sendOverTime(3600, 30);
    const attempts = await sender.database.rows<{ attempts: number }>('SELECT attempts FROM event_streams');
    expect(attempts).toHaveLength(5);
    for (const one of attempts) expect(one.attempts).toBeLessThan(60);
    expect(await sender.get(EventOutbox).figures()).toMatchObject({ waiting: 15, dead: 0 });
    expect((await sender.get(EventOutbox).figures())?.oldestWaitingSeconds).toBe(3600);
    expect(await checkEvents(sender.get(EventOutbox))).toMatchObject({
      status: 'warn',
      text: '15 wait, the oldest for 3600 s; 0 were given up',
    });
    await receiver.listen();
    await sender.sendOverTime(1800, 300);
    expect(new Set(Object.values(receiver.order()).map(String))).toEqual(new Set(['1,2,3']));
    expect(receiver.accepted).toHaveLength(15);
    expect(sender.logLines.filter((line) => line.includes('did not accept')).length).toBeLessThanOrEqual(61);
  });

  it('refuses an event for EVENTS_GIVE_UP_HOURS: it is given up with one line, counted, and the next event of the user is sent (T327)', async () => {
    const sender = await replica({ settings: { EVENTS_GIVE_UP_HOURS: '24' } });
    receiver.behaviour = (event, response, request) =>
      (event.data.detail.n === 1 ? answer(400) : accept)(event, response, request);
    for (const n of [1, 2]) await sender.record('alice', n);
    await sender.sendDue();
    await sender.sendOverTime(23 * 3600, 600);
    expect(await statuses(sender)).toEqual([eventStatus.waiting, eventStatus.waiting]);
    await sender.sendOverTime(2 * 3600, 600);
    expect(await sender.rows()).toMatchObject([
      { status: eventStatus.dead, payload: expect.stringContaining('"n":1') as unknown, sent_at: null },
      { status: eventStatus.sent, payload: expect.stringContaining('"n":2') as unknown },
    ]);
    expect(await sender.get(EventOutbox).figures()).toEqual({ waiting: 0, oldestWaitingSeconds: 0, dead: 1 });
    const found = await checkEvents(sender.get(EventOutbox));
    expect(found).toEqual({ check: 'events', status: 'warn', text: '0 wait; 1 were given up' });
    expect(sender.logLines.filter((line) => line.includes('given up'))).toHaveLength(1);
    expect(receiver.order()).toEqual({ alice: [2] });
  });

  it('uses its connections again: a hundred events need few connections', async () => {
    const sender = await replica();
    for (let n = 0; n < 100; n++) await sender.record(`user-${n}`, n);
    await sender.sendDue();
    expect(receiver.accepted).toHaveLength(100);
    // Without keep-alive there would be a hundred. A busy machine may let some connections time out.
    expect(receiver.connections).toBeLessThan(50);
  });
});

describe('leases', () => {
  it('while the lease of a stream holds, another replica does not send its events', async () => {
    const [dead, present] = [await replica(), await replica()];
    for (const n of [1, 2]) await dead.record('alice', n);
    const streams = dead.get(EventStreams);
    await streams.admit(fresh.known);
    const [owned] = await streams.claim(streamStatus.ready, 1);
    await present.sendDue();
    expect(receiver.seen).toEqual([]);
    clock.advanceSeconds(testEventLimits.leaseMs / 1000);
    await present.sendDue();
    expect(receiver.order()).toEqual({ alice: [1, 2] });
    // The former owner comes late and changes nothing.
    await present.record('alice', 3);
    await present.get(EventStreams).admit(fresh.known);
    expect(await streams.release(owned!)).toBe(false);
    expect(await streams.postpone(owned!, clock.secondsFromNow(9999))).toBe(false);
    await present.sendDue();
    expect(receiver.order()).toEqual({ alice: [1, 2, 3] });
  });

  it('sixteen claims of one stream by two replicas: one wins', async () => {
    const [one, two] = [await replica(), await replica()];
    await one.record('alice', 1);
    await Promise.all([one, two].map((each) => each.get(EventStreams).admit(fresh.known)));
    const claims = Array.from({ length: 16 }, (_, n) =>
      (n % 2 === 0 ? one : two).get(EventStreams).claim(streamStatus.ready, 1),
    );
    expect((await Promise.all(claims)).flat()).toHaveLength(1);
  });

  it('a stopping process gives its stream back, and another one sends the event at once', async () => {
    const stopping = await replica();
    receiver.behaviour = () => undefined;
    await stopping.record('alice', 1);
    const sending = stopping.sendDue();
    await eventually(() => receiver.seen.length === 1, { what: 'the POST is under way' });
    await stopping.stop();
    await sending;
    replicas = [];
    receiver.behaviour = accept;
    const other = await replica();
    await other.sendDue();
    expect(receiver.order()).toEqual({ alice: [1] });
  });
});
