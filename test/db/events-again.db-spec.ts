import { EventOutbox } from '../../src/events/event-outbox';
import { EventReplay } from '../../src/events/event-replay';
import { KeptEventRows } from '../../src/events/kept-events';
import { eventStatus, fresh } from '../../src/events/outbox/outbox-event.entity';
import { EventRows } from '../../src/events/outbox/outbox-event.repository';
import { streamStatus } from '../../src/events/outbox/event-stream.entity';
import { EventStreams } from '../../src/events/outbox/event-stream.repository';
import { migratedDatabase, type TestDatabase } from '../support/database';
import { EventReplica } from '../support/events/event-replica';
import { webhookFault } from '../support/events/verify-webhook';
import { accept, answer, type Behaviour, WebhookReceiver, webhookSecret } from '../support/events/webhook-receiver';
import { FakeClock } from '../support/fakes';

const hour = 3600;

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

async function replica(settings: Record<string, string> = {}): Promise<EventReplica> {
  const started = await EventReplica.start(store.url, { clock, settings: { ...receiver.settings, ...settings } });
  replicas.push(started);
  return started;
}

/** Refuses the events of alice with these numbers. */
const refuse =
  (...numbers: number[]): Behaviour =>
  (event, response, request) =>
    (numbers.includes(event.data.detail.n as number) ? answer(400) : accept)(event, response, request);

/** Sends until the events with these numbers are given up. The others arrive. */
async function givenUp(sender: EventReplica, ...numbers: number[]): Promise<void> {
  receiver.behaviour = refuse(...numbers);
  await sender.sendDue();
  await sender.sendOverTime(74 * hour * numbers.length, hour / 2);
  receiver.behaviour = accept;
}

const retry = (sender: EventReplica, id: string) =>
  sender.database.transaction((tx) => sender.get(KeptEventRows).retry(tx, id));

async function replay(sender: EventReplica, from: Date, to: Date): Promise<number> {
  const ids = await sender.get(EventReplay).candidates(from, to, 1000);
  return ids.length === 0 ? 0 : sender.database.transaction((tx) => sender.get(EventReplay).copy(tx, ids));
}

const numbersOf = (events: readonly { data: Readonly<Record<string, any>> }[]) =>
  events.map(({ data }) => data.detail.n as number);

describe('a weekend without a receiver', () => {
  it('loses nothing: the events arrive on Monday in order, and one line says that the receiver is back', async () => {
    const sender = await replica();
    await receiver.stop();
    for (const n of [1, 2]) for (const user of ['alice', 'bob']) await sender.record(user, n);
    await sender.sendDue();
    await sender.sendOverTime(63 * hour, hour);
    const lines = () => sender.logLines.filter((line) => line.includes('accepts events again'));
    expect([(await sender.get(EventOutbox).figures())?.dead, lines()]).toEqual([0, []]);
    await receiver.listen();
    await sender.sendOverTime(3 * hour, hour / 2);
    expect(receiver.order()).toEqual({ alice: [1, 2], bob: [1, 2] });
    expect(lines()).toHaveLength(1);
    await sender.record('alice', 3);
    await sender.sendDue();
    expect(lines()).toHaveLength(1);
  });
});

describe('a retry of an event that was given up', () => {
  it('sends it with its webhook-id, before the events of its user that wait, and its back-off starts anew', async () => {
    const sender = await replica();
    await sender.record('alice', 1);
    await givenUp(sender, 1);
    const [dead] = await sender.rows();
    receiver.behaviour = answer(503);
    await sender.record('alice', 2);
    await sender.sendDue();
    expect(await retry(sender, dead!.event_id)).toBe('queued');
    // It is four days old, and one more failure does not give it up.
    await sender.sendDue();
    expect((await sender.rows()).map(({ status }) => status)).toEqual([eventStatus.waiting, eventStatus.waiting]);
    expect((await sender.get(EventOutbox).figures())?.oldestWaitingSeconds).toBeLessThan(60);
    receiver.behaviour = accept;
    await sender.sendOverTime(60, 10);
    expect(numbersOf(receiver.accepted)).toEqual([1, 2]);
    expect(receiver.accepted[0]?.id).toBe(dead!.event_id);
    expect(receiver.accepted[0]?.body).not.toContain('replay_of');
    expect(await sender.count('event_streams')).toBe(0);
  });

  it('does not wait for the next attempt of a later event of its user', async () => {
    const sender = await replica();
    await sender.record('alice', 1);
    await givenUp(sender, 1);
    receiver.behaviour = answer(503);
    await sender.record('alice', 2);
    await sender.sendOverTime(12 * hour, hour);
    receiver.behaviour = accept;
    expect(await retry(sender, (await sender.rows())[0]!.event_id)).toBe('queued');
    await sender.sendDue();
    expect(numbersOf(receiver.accepted)).toEqual([1, 2]);
  });

  it('of parallel retries on two replicas exactly one wins, and the event is sent once', async () => {
    const [one, two] = [await replica(), await replica()];
    await one.record('alice', 1);
    await givenUp(one, 1);
    const [dead] = await one.rows();
    const outcomes = await Promise.all(Array.from({ length: 8 }, (_, n) => retry(n % 2 ? one : two, dead!.event_id)));
    expect(outcomes.sort()).toEqual(['queued', ...(Array(7).fill('unknown') as string[])]);
    await Promise.all([one.sendDue(), two.sendDue()]);
    expect(receiver.accepted).toHaveLength(1);
  });

  it('an attempt of before the retry cannot give the event up again', async () => {
    const sender = await replica();
    await sender.record('alice', 1);
    await sender.get(EventStreams).admit(fresh.known);
    const events = sender.get(EventRows);
    const before = (await events.first('alice'))!;
    expect(await events.settle(before, eventStatus.dead)).toBe(true);
    expect(await retry(sender, before.eventId)).toBe('queued');
    expect(await events.settle(before, eventStatus.dead)).toBe(false);
    expect((await sender.rows())[0]).toMatchObject({ status: eventStatus.waiting });
    // The receiver may have accepted it then: this is known to be sent.
    expect(await events.settle(before, eventStatus.sent)).toBe(true);
  });

  it('is refused for an event that waits or was sent, and for one without a payload', async () => {
    const sender = await replica();
    await sender.record('alice', 1);
    const [row] = await sender.rows();
    expect(await retry(sender, row!.event_id)).toBe('unknown');
    await sender.sendDue();
    expect(await retry(sender, row!.event_id)).toBe('unknown');
    await sender.database.affected('UPDATE event_outbox SET status = 2, payload = NULL');
    expect(await retry(sender, row!.event_id)).toBe('gone');
    expect(await retry(sender, 'nobody')).toBe('unknown');
  });
});

describe('a replay', () => {
  it('sends what was sent or given up in that time once more, in order, with new ids and replay_of', async () => {
    const sender = await replica();
    const from = clock.now();
    for (const n of [1, 2, 3]) for (const user of ['alice', 'bob', undefined]) await sender.record(user, n);
    const to = clock.secondsFromNow(1);
    clock.advanceSeconds(1);
    await sender.record('alice', 4);
    await givenUp(sender, 2);
    const first = new Map((await sender.rows()).map((row) => [row.event_id, row]));
    receiver.seen.splice(0);
    expect(await replay(sender, from, to)).toBe(9);
    await sender.sendDue();
    expect(receiver.order()).toMatchObject({ alice: [1, 2, 3], bob: [1, 2, 3] });
    expect(receiver.accepted).toHaveLength(9);
    for (const event of receiver.accepted) {
      const { replay_of: of, ...body } = JSON.parse(event.body) as Record<string, unknown>;
      expect(first.has(event.id)).toBe(false);
      expect(body).toEqual(JSON.parse(first.get(of as string)!.payload!));
      expect(webhookFault(webhookSecret, event, clock.now())).toBeUndefined();
    }
    expect((await sender.get(EventOutbox).figures())?.dead).toBe(0);
  });

  it('of a time that overlaps a former replay keeps the order of the first sending', async () => {
    const sender = await replica();
    const times: Date[] = [];
    for (const n of [1, 2, 3, 4]) {
      times.push(clock.now());
      await sender.record('alice', n);
      // The clock of the second replica is behind.
      clock.advanceSeconds(n === 2 ? -5 : 10);
    }
    await sender.sendDue();
    expect(await replay(sender, times[0]!, new Date(times[0]!.getTime() + 6000))).toBe(2);
    await sender.sendDue();
    receiver.seen.splice(0);
    expect(await replay(sender, new Date(0), clock.secondsFromNow(60))).toBe(4);
    await sender.sendDue();
    expect(numbersOf(receiver.accepted)).toEqual([1, 2, 3, 4]);
    // A replay of a replay names the first sending.
    const ids = (await sender.rows()).slice(0, 4).map(({ event_id: id }) => id);
    const named = receiver.accepted.map(({ body }) => (JSON.parse(body) as { replay_of: string }).replay_of);
    expect(named).toEqual(ids);
  });

  it('two at the same time, and one while another waits to be sent, queue each event once', async () => {
    const [one, two] = [await replica(), await replica()];
    const from = clock.now();
    for (let n = 0; n < 10; n++) await one.record(`user-${n % 3}`, n);
    clock.advanceSeconds(1);
    await one.sendDue();
    receiver.seen.splice(0);
    const queued = await Promise.all([one, two, one, two].map((each) => replay(each, from, clock.now())));
    expect(queued.reduce((sum, count) => sum + count)).toBe(10);
    expect(await replay(two, from, clock.now())).toBe(0);
    await Promise.all([one.sendDue(), two.sendDue()]);
    await one.sendDue();
    expect(new Set(receiver.accepted.map(({ id }) => id)).size).toBe(10);
    expect(
      new Set(receiver.accepted.map(({ body }) => (JSON.parse(body) as { replay_of: string }).replay_of)).size,
    ).toBe(10);
  });

  it('and a retry of the same event at the same time: one of them wins', async () => {
    const [one, two] = [await replica(), await replica()];
    for (let round = 0; round < 3; round++) {
      const from = clock.now();
      await one.record('alice', round);
      const { id, event_id: eventId } = (await one.rows()).at(-1)!;
      await one.get(EventRows).settle({ id, queuedAt: null }, eventStatus.dead);
      clock.advanceSeconds(1);
      const [copies, outcome] = await Promise.all([replay(one, from, clock.now()), retry(two, eventId)]);
      expect([copies, outcome]).toEqual(copies === 1 ? [1, 'unknown'] : [0, 'queued']);
      await one.sendDue();
      expect(receiver.order().alice).toHaveLength(round + 1);
    }
    expect(receiver.accepted).toHaveLength(3);
  });

  it('of anonymous events does not enter the lanes of the users', async () => {
    const sender = await replica();
    const from = clock.now();
    await sender.record(undefined, 1);
    clock.advanceSeconds(1);
    await sender.sendDue();
    expect(await replay(sender, from, clock.now())).toBe(1);
    const streams = sender.get(EventStreams);
    await streams.admit(fresh.known);
    await streams.admit(fresh.anonymous);
    expect(await streams.claim(streamStatus.ready, 10)).toEqual([]);
    expect(await streams.claim(streamStatus.anonymous, 10)).toHaveLength(1);
  });
});

describe('the events of a deleted user', () => {
  it('keep no payload: those that wait are sent and lose it then, and user.deleted can be replayed', async () => {
    const sender = await replica();
    const from = clock.now();
    await sender.record('alice', 1);
    await sender.record('bob', 1);
    await sender.sendDue();
    await sender.record('alice', 2);
    await sender.database.affected(
      "UPDATE event_outbox SET type = 'user.deleted' WHERE stream = 'alice' AND status = ?",
      [eventStatus.waiting],
    );
    await sender.record('alice', 3);
    await sender.get(EventOutbox).forgetUser('alice');
    const kept = async () => (await sender.rows()).map((row) => [row.stream, row.type, row.payload !== null]);
    expect(await kept()).toEqual([
      ['alice', 'user.unlocked', false],
      ['bob', 'user.unlocked', true],
      ['alice', 'user.deleted', true],
      ['alice', 'user.unlocked', true],
    ]);
    await sender.sendDue();
    expect(receiver.order()).toEqual({ alice: [1, 2, 3], bob: [1] });
    expect((await kept())[3]).toEqual(['alice', 'user.unlocked', false]);
    expect(await replay(sender, from, clock.secondsFromNow(1))).toBe(2);
  });
});

describe('the list of events', () => {
  it('has every event once over its pages, by status and without, the newest first', async () => {
    const sender = await replica();
    for (let n = 1; n <= 7; n++) {
      await sender.record(n % 2 === 0 ? 'alice' : undefined, n);
      if (n % 3 === 0) clock.advanceSeconds(1);
    }
    await sender.sendDue();
    await sender.record('alice', 8);
    const kept = sender.get(KeptEventRows);
    for (const status of ['sent', 'waiting', 'dead', undefined] as const) {
      const found: string[] = [];
      let after: readonly [number, number] | null | undefined;
      do {
        const page = await kept.list(status, 3, after ?? undefined);
        found.push(...page.items.map(({ id }) => id));
        after = page.next;
      } while (after !== null);
      const rows = (await sender.rows()).filter((row) => status === undefined || row.status === eventStatus[status]);
      expect(found).toEqual(rows.map((row) => row.event_id).reverse());
    }
    const [newest] = (await kept.list(undefined, 1)).items;
    expect(newest).toEqual({
      id: (await sender.rows()).at(-1)!.event_id,
      ...{ type: 'user.unlocked', userId: 'alice', status: 'waiting', replayOf: null, hasPayload: true },
      ...{ createdAt: clock.now(), queuedAt: null, sentAt: null },
    });
    expect(JSON.parse((await kept.find(newest!.id))!.payload!)).toMatchObject({ data: { detail: { n: 8 } } });
  });
});
