import { AuditTrail } from '../../src/audit/audit-trail';
import { EventReceivers, type ReceiverValues } from '../../src/events/event-receivers';
import { ReceiverDelivery } from '../../src/events/receiver-delivery';
import { EventReceiverRows } from '../../src/events/receivers/event-receivers.repository';
import { ReceiverEvents } from '../../src/events/receivers/receiver-events.repository';
import type { Sql } from '../../src/platform/database/sql';
import { freshDatabase, type TestDatabase } from '../support/database';
import { EventReplica } from '../support/events/event-replica';
import { webhookFault } from '../support/events/verify-webhook';
import { accept, answer, WebhookReceiver, webhookSecret } from '../support/events/webhook-receiver';
import { FakeClock } from '../support/fakes';

const mariadb = __DATABASE__ === 'mariadb';
const on = { EVENT_RECEIVERS: 'on' };

let store: TestDatabase;
let clock: FakeClock;
let siem: WebhookReceiver;
let other: WebhookReceiver;
let replicas: EventReplica[];

/** Sends nothing. It clears the tables after the other replicas have stopped. */
let cleaner: EventReplica;
beforeAll(async () => {
  store = await freshDatabase();
  cleaner = await EventReplica.start(store.url);
  [siem, other] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
});
afterAll(async () => {
  await cleaner.stop();
  await Promise.all([siem.stop(), other.stop()]);
  await store.drop();
});

beforeEach(() => {
  clock = new FakeClock();
  replicas = [];
  for (const receiver of [siem, other]) {
    receiver.seen.splice(0);
    receiver.behaviour = accept;
  }
});
afterEach(async () => {
  for (const replica of replicas) await replica.stop();
  for (const table of ['event_receivers', 'receiver_events', 'audit_logs', 'event_outbox', 'event_streams']) {
    await cleaner.database.affected(`DELETE FROM ${table}`);
  }
});

async function replica(settings: Record<string, string> = on): Promise<EventReplica> {
  const started = await EventReplica.start(store.url, { clock, settings });
  replicas.push(started);
  return started;
}

const all: ReceiverValues = { url: '', format: 'native', types: [], tenants: [], audience: null, enabled: true };

async function givenReceiver(at: EventReplica, id: string, values: Partial<ReceiverValues> & { url: string }) {
  const receivers = at.get(EventReceivers);
  const position = await receivers.newest();
  await at.database.transaction((tx) =>
    receivers.insert(tx, { ...all, ...values, id, secret: webhookSecret, position }),
  );
}
const send = (at: EventReplica) => at.get(ReceiverDelivery).sendDue();
const numbers = (receiver: WebhookReceiver) => receiver.accepted.map(({ data }) => Number(data.detail.n));
const stateOf = async (at: EventReplica, id: string) => (await at.get(EventReceivers).find(id))!;
const events = (sql: Sql) => sql.rows<{ n: number; place: number | null }>('SELECT * FROM receiver_events ORDER BY id');
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

describe('further receivers of events', () => {
  it('an event is one row, however many receivers there are, and none with EVENT_RECEIVERS=off', async () => {
    const at = await replica();
    await givenReceiver(at, 'siem', { url: siem.url });
    await givenReceiver(at, 'other', { url: other.url });
    await at.record('alice', 1);
    await send(at);
    expect(await events(at.database)).toHaveLength(1);
    expect([siem.accepted.length, other.accepted.length]).toEqual([1, 1]);
    expect(await at.count('event_outbox')).toBe(0);
    const [event] = siem.accepted;
    expect(event!.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(webhookFault(webhookSecret, event!, clock.now())).toBeUndefined();
    await (await replica({})).record('alice', 2);
    expect(await events(at.database)).toHaveLength(1);
  });

  it('the receiver of WEBHOOK_URL gets its events beside them, from its own outbox', async () => {
    const at = await replica({ ...on, ...other.settings });
    await givenReceiver(at, 'siem', { url: siem.url });
    await at.record('alice', 1);
    await Promise.all([send(at), at.sendDue()]);
    expect([numbers(siem), numbers(other)]).toEqual([[1], [1]]);
  });

  it('a receiver that is down loses nothing and holds up nobody, and goes on where it was', async () => {
    const at = await replica();
    await givenReceiver(at, 'siem', { url: siem.url });
    await givenReceiver(at, 'other', { url: other.url });
    siem.behaviour = answer(503);
    await at.record('alice', 1);
    await send(at);
    await at.record('bob', 2);
    await send(at);
    expect([numbers(siem), numbers(other)]).toEqual([[], [1, 2]]);
    // The second look came within the back-off of the first failure.
    expect(siem.seen).toHaveLength(1);
    const failing = await stateOf(at, 'siem');
    expect(failing).toMatchObject({ waiting: 2, receiver: { lastError: 'status 503', failingSince: clock.now() } });
    expect((await stateOf(at, 'other')).waiting).toBe(0);
    for (let hour = 0; hour < 71; hour++) {
      clock.advanceSeconds(3600);
      await send(at);
    }
    siem.behaviour = accept;
    // The longest pause, an hour, and its jitter.
    clock.advanceSeconds(2 * 3600);
    await send(at);
    expect(numbers(siem)).toEqual([1, 2]);
    expect(await stateOf(at, 'siem')).toMatchObject({ waiting: 0, receiver: { failingSince: null, setAside: 0 } });
    expect(at.logLines.join('')).toContain('a receiver accepts events again');
  });

  it('types and tenants decide what a receiver gets, and an event about nobody goes to no receiver of tenants', async () => {
    const at = await replica();
    const now = clock.now();
    for (const [uid, tenant] of [
      ['anna', 'acme'],
      ['olga', 'other'],
    ]) {
      await at.database.affected(
        'INSERT INTO users (uid, login_name, login_name_key, tenant_id, created_at) VALUES (?, ?, ?, ?, ?)',
        [uid!, uid!, uid!, tenant!, now],
      );
    }
    await givenReceiver(at, 'siem', { url: siem.url, tenants: ['acme'] });
    await givenReceiver(at, 'other', { url: other.url, types: ['login.*', 'user.unlocked'] });
    await at.record('anna', 1);
    await at.record('olga', 2);
    await at.record(undefined, 3);
    await at.get(AuditTrail).record(at.database, 'USER_CHANGED', { userId: 'anna', detail: { n: 4 } });
    await send(at);
    expect([numbers(siem), numbers(other)]).toEqual([
      [1, 4],
      [1, 2, 3],
    ]);
    expect((await stateOf(at, 'other')).waiting).toBe(0);
    await at.database.affected("DELETE FROM users WHERE uid IN ('anna', 'olga')");
  });

  it('an event that is refused as such is set aside after five minutes, and a replay sends it again with a new id', async () => {
    const at = await replica();
    await givenReceiver(at, 'siem', { url: siem.url });
    await givenReceiver(at, 'other', { url: other.url });
    siem.behaviour = (event, response, request) =>
      answer(event.data.detail.n === 1 ? 422 : 204)(event, response, request);
    await at.record('alice', 1);
    await at.record('alice', 2);
    await send(at);
    clock.advanceSeconds(299);
    await send(at);
    expect(numbers(siem)).toEqual([]);
    clock.advanceSeconds(120);
    await send(at);
    expect(numbers(siem)).toEqual([2]);
    const { receiver } = await stateOf(at, 'siem');
    const [refused] = siem.seen;
    expect(receiver).toMatchObject({ setAside: 1, lastSetAside: refused!.id, failingSince: null });
    siem.behaviour = accept;
    siem.seen.splice(0);
    other.seen.splice(0);
    const receivers = at.get(EventReceivers);
    const before = await receivers.placeBeforeEvent(refused!.id);
    await at.database.transaction((tx) => receivers.replay(tx, receiver, before!));
    await at.record('alice', 3);
    await send(at);
    expect(numbers(siem)).toEqual([1, 2, 3]);
    const bodies = siem.seen.map(({ id, body }) => ({
      id,
      replay_of: (JSON.parse(body) as { replay_of?: string }).replay_of,
    }));
    expect(bodies[0]).toEqual({ id: expect.not.stringMatching(refused!.id), replay_of: refused!.id });
    // The third one was not sent before.
    expect(bodies[2]!.replay_of).toBeUndefined();
    expect(numbers(other)).toEqual([3]);
  });

  it('T715 an outage does not count: an event that is refused once after hours of it is not set aside', async () => {
    const at = await replica();
    await givenReceiver(at, 'siem', { url: siem.url });
    siem.behaviour = (_event, response) => response.destroy();
    await at.record('alice', 1);
    await send(at);
    clock.advanceSeconds(80 * 3600);
    for (const status of [422, 503]) {
      await send(at);
      expect((await stateOf(at, 'siem')).receiver.lastError).not.toContain('status');
      siem.behaviour = answer(status);
      clock.advanceSeconds(5000);
      await send(at);
      const { waiting, receiver } = await stateOf(at, 'siem');
      expect([waiting, receiver.setAside, receiver.lastError]).toEqual([1, 0, `status ${status}`]);
      siem.behaviour = (_event, response) => response.destroy();
      clock.advanceSeconds(5000);
    }
    siem.behaviour = accept;
    await send(at);
    expect(numbers(siem)).toEqual([1]);
  });

  it('T716 tokens wait while OIDC is off: no event is passed over that nobody can sign', async () => {
    const at = await replica();
    await givenReceiver(at, 'siem', { url: siem.url, format: 'set' });
    await at.record('alice', 1);
    await at.get(AuditTrail).record(at.database, 'USER_DELETED', { userId: 'alice', detail: {} });
    await send(at);
    const { waiting, receiver } = await stateOf(at, 'siem');
    // The first event has no meaning as a token.
    expect([waiting, receiver.lastError, receiver.setAside]).toEqual([1, 'OIDC is off', 0]);
    expect(siem.seen).toEqual([]);
  });

  it('a receiver whose secret no key opens counts as failing, and gets its events when one does', async () => {
    const at = await replica();
    await givenReceiver(at, 'siem', { url: siem.url });
    const { receiver } = await stateOf(at, 'siem');
    const secret = (sealed: string) => at.database.affected('UPDATE event_receivers SET secret = ?', [sealed]);
    await secret(`${receiver.secret.slice(0, -8)}AAAAAAAA`);
    await at.record('alice', 1);
    await send(at);
    expect((await stateOf(at, 'siem')).receiver).toMatchObject({
      ...{ lastError: 'secret not readable', failingSince: clock.now(), setAside: 0 },
    });
    await secret(receiver.secret);
    clock.advanceSeconds(60);
    await send(at);
    expect(numbers(siem)).toEqual([1]);
  });

  it('a rotated secret signs beside the former one while that is kept', async () => {
    const at = await replica();
    await givenReceiver(at, 'siem', { url: siem.url });
    const { receiver } = await stateOf(at, 'siem');
    const fresh = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const receivers = at.get(EventReceivers);
    const rotate = () =>
      at.database.transaction((tx) =>
        receivers.rotateSecret(tx, receiver, fresh, new Date(clock.now().getTime() + 60_000)),
      );
    expect([await rotate(), await rotate()]).toEqual([true, false]);
    await at.record('alice', 1);
    await send(at);
    const faults = () => [webhookSecret, fresh].map((secret) => webhookFault(secret, siem.seen.at(-1)!, clock.now()));
    expect(faults()).toEqual([undefined, undefined]);
    clock.advanceSeconds(61);
    await at.record('alice', 2);
    await send(at);
    expect(faults()).toEqual(['wrong signature', undefined]);
  });

  it('the erasure of a user empties what was not sent, and user.deleted alone arrives (T684)', async () => {
    const at = await replica();
    await givenReceiver(at, 'siem', { url: siem.url });
    await at.record('alice', 1);
    await at.get(AuditTrail).record(at.database, 'USER_DELETED', { userId: 'alice', detail: {} });
    await at.record('bob', 2);
    await at.get(ReceiverEvents).forgetUser('alice');
    await send(at);
    expect(siem.accepted.map(({ type }) => type)).toEqual(['user.deleted', 'user.unlocked']);
  });

  it('a receiver behind events that purge has deleted goes on with the next one', async () => {
    const at = await replica();
    await givenReceiver(at, 'siem', { url: siem.url });
    await at.record('alice', 1);
    await at.get(ReceiverEvents).order();
    await at.database.affected('DELETE FROM receiver_events');
    await send(at);
    const [{ position }, last] = [(await stateOf(at, 'siem')).receiver, await at.get(EventReceivers).newest()];
    expect(position).toBe(last);
    await at.record('alice', 2);
    await send(at);
    expect(numbers(siem)).toEqual([2]);
  });
});

describe('two senders at once', () => {
  /** On SQLite, two replicas of one process cannot have transactions in parallel. */
  const pair = async () => {
    const one = await replica();
    return [one, mariadb ? await replica() : one] as const;
  };

  it('give each event one place, without a gap that a receiver could fall into (T680)', async () => {
    const [one, two] = await pair();
    for (const n of upTo(30)) await one.record(`user-${n % 3}`, n);
    const before = await one.get(EventReceivers).newest();
    await Promise.all([one, two, one, two].map((at) => at.get(ReceiverEvents).order()));
    const places = (await events(one.database)).map(({ place }) => Number(place) - before);
    expect(places).toEqual(upTo(30));
  });

  it('places that were counted before another replica gave some are not given (T680)', async () => {
    const at = await replica();
    const places = at.get(ReceiverEvents);
    const stale = await places.last();
    for (const n of upTo(3)) await at.record('alice', n);
    await places.order();
    await at.record('alice', 4);
    jest.spyOn(places, 'last').mockResolvedValueOnce(stale);
    await places.order();
    const given = async () => (await events(at.database)).map(({ place }) => place && Number(place) - stale);
    expect(await given()).toEqual([1, 2, 3, null]);
    await places.order();
    expect(await given()).toEqual([1, 2, 3, 4]);
  });

  it('send each event once, and in one order', async () => {
    const [one, two] = await pair();
    await givenReceiver(one, 'siem', { url: siem.url });
    await givenReceiver(one, 'other', { url: other.url });
    for (const n of upTo(20)) {
      await one.record(`user-${n % 3}`, n);
      if (n % 5 === 0) await Promise.all([send(one), send(two)]);
    }
    await send(one);
    expect([numbers(siem), numbers(other)]).toEqual([upTo(20), upTo(20)]);
  });

  it('a replay during a POST wins: the sender that has read the former place does not move it (T681)', async () => {
    const at = await replica();
    await givenReceiver(at, 'siem', { url: siem.url });
    for (const n of upTo(3)) await at.record('alice', n);
    await send(at);
    siem.seen.splice(0);
    await at.record('alice', 4);
    const receivers = at.get(EventReceivers);
    const before = (await stateOf(at, 'siem')).receiver.position - 3;
    let replayed = false;
    siem.behaviour = (event, response, request) => {
      const answered = () => accept(event, response, request);
      if (replayed) return answered();
      replayed = true;
      void stateOf(at, 'siem')
        .then(({ receiver }) => at.database.transaction((tx) => receivers.replay(tx, receiver, before)))
        .then(answered);
    };
    await send(at);
    expect(numbers(siem)).toEqual([4, 1, 2, 3, 4]);
    expect((await stateOf(at, 'siem')).waiting).toBe(0);
  });

  it('a sender whose lease has ended writes nothing over the next one (T682)', async () => {
    const [one, two] = await pair();
    await givenReceiver(one, 'siem', { url: siem.url });
    await one.record('alice', 1);
    await one.get(ReceiverEvents).order();
    const [rows, last] = [one.get(EventReceiverRows), await one.get(EventReceivers).newest()];
    const [late] = await rows.claim(last, 1);
    expect(await two.get(EventReceiverRows).claim(last, 1)).toEqual([]);
    clock.advanceSeconds(61);
    await send(two);
    expect(numbers(siem)).toEqual([1]);
    const failed = { version: 0, again: clock.now(), since: clock.now(), reason: 'timeout' };
    expect([
      await rows.advance(late!, 0, last - 1, true),
      await rows.setAside(late!, 0, { place: last - 1, eventId: 'x' }, 'status 400'),
      await rows.postpone(late!, failed),
      await rows.release(late!),
    ]).toEqual([false, false, false, false]);
    expect((await stateOf(one, 'siem')).receiver).toMatchObject({ position: last, setAside: 0, lastError: null });
  });

  it('a pause stops the sender before its next event, and resuming goes on there (T683)', async () => {
    const at = await replica();
    await givenReceiver(at, 'siem', { url: siem.url });
    for (const n of upTo(3)) await at.record('alice', n);
    const receivers = at.get(EventReceivers);
    const enable = (enabled: boolean) => at.database.transaction((tx) => receivers.change(tx, 'siem', { enabled }));
    siem.behaviour = (event, response, request) => {
      void enable(false).then(() => accept(event, response, request));
    };
    await send(at);
    expect(numbers(siem)).toEqual([1]);
    siem.behaviour = accept;
    await enable(true);
    await send(at);
    // The first one was accepted while the pause was written, so it arrives once more, with its id.
    expect(numbers(siem)).toEqual([1, 1, 2, 3]);
    expect(new Set(siem.seen.map(({ id }) => id)).size).toBe(3);
  });

  if (mariadb)
    it('an event that commits after a later one is sent all the same (T680)', async () => {
      const at = await replica();
      await givenReceiver(at, 'siem', { url: siem.url });
      let commit!: () => void;
      const held = new Promise<void>((resolve) => (commit = resolve));
      let inserted!: () => void;
      const begun = new Promise<void>((resolve) => (inserted = resolve));
      const slow = at.database.transaction(async (tx) => {
        await at.record('alice', 1, tx);
        inserted();
        await held;
      });
      await begun;
      await at.record('bob', 2);
      await send(at);
      expect(numbers(siem)).toEqual([2]);
      commit();
      await slow;
      await send(at);
      expect(numbers(siem)).toEqual([2, 1]);
    });
});
