import { Logger } from '@nestjs/common';
import { FakeClock } from '../../../test/support/fakes';
import type { Lease } from './leased-rows';
import { type OutboxQueue, OutboxWorker } from './outbox-worker';

const clock = new FakeClock();
const limits = { sendMs: 45_000, leaseMs: 60_000, pollMs: 1000, nudgeMs: 50, stopMs: 30, concurrency: 4 };

interface Item extends Lease {
  readonly id: string;
}
type Outcome = 'sent' | 'again';
type Attempt = (item: Item, signal: AbortSignal) => Promise<Outcome>;

/** A fake of an outbox table: the waiting items, and a list of the writes. */
class FakeRows {
  readonly written: string[] = [];
  failures = 0;
  constructor(readonly waiting: string[]) {}

  queue(attempt: Attempt): OutboxQueue<Item, Outcome> {
    return {
      what: 'mail',
      idOf: ({ id }) => id,
      claim: (wanted) =>
        Promise.resolve(this.waiting.splice(0, wanted).map((id) => ({ id, claim: 'c', claimedAt: clock.now() }))),
      attempt,
      write: ({ id }, outcome) => {
        if (this.failures-- > 0) return Promise.reject(new Error('the database is unavailable'));
        this.written.push(`${id} ${outcome}`);
        return Promise.resolve(true);
      },
      handBack: ({ id }, outcome) => {
        this.written.push(`${id} handed back ${outcome}`);
        return Promise.resolve(true);
      },
    };
  }
}

const worker = (rows: FakeRows, make: Attempt, more = {}) =>
  new OutboxWorker(rows.queue(make), clock, { ...limits, ...more });

const sent = () => Promise.resolve('sent' as const);

describe('OutboxWorker', () => {
  beforeAll(() => {
    Logger.overrideLogger(false);
  });

  it('sends at most `concurrency` items at the same time and claims more as they end', async () => {
    const rows = new FakeRows(Array.from({ length: 50 }, (_, n) => `m${n}`));
    let [underWay, most] = [0, 0];
    await worker(rows, async () => {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      return sent();
    }).sendDue();
    expect(most).toBe(limits.concurrency);
    expect(rows.written).toHaveLength(50);
  });

  it('retries the write of a sent mail until the database is back, and does not send the mail again', async () => {
    const rows = new FakeRows(['m']);
    rows.failures = 2;
    const tried: string[] = [];
    await worker(rows, (mail) => {
      tried.push(mail.id);
      return sent();
    }).sendDue();
    expect(tried).toEqual(['m']);
    expect(rows.written).toEqual(['m sent']);
  });

  it('goes on with the next mail after an unexpected error (T257)', async () => {
    const rows = new FakeRows(['bad', 'good']);
    await worker(rows, (mail) => (mail.id === 'bad' ? Promise.reject(new TypeError('bug')) : sent())).sendDue();
    expect(rows.written).toEqual(['good sent']);
  });

  it('on shutdown aborts running attempts, hands their items back, and claims no more', async () => {
    const rows = new FakeRows(['slow', 'next', 'more']);
    const ending = worker(
      rows,
      (_, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve('again'));
        }),
      { concurrency: 1 },
    );
    void ending.sendDue();
    await new Promise(setImmediate);
    await ending.stop();
    expect(rows.written).toEqual(['slow handed back again']);
    expect(rows.waiting).toEqual(['next', 'more']);
  });

  it('on shutdown waits for a mail that is nearly sent', async () => {
    const rows = new FakeRows(['m']);
    let finish!: () => void;
    const nearlySent = new Promise<void>((resolve) => (finish = resolve));
    let aborted = false;
    const ending = worker(
      rows,
      async (_, signal) => {
        signal.addEventListener('abort', () => (aborted = true));
        await nearlySent;
        return sent();
      },
      { stopMs: 60_000 },
    );
    void ending.sendDue();
    await new Promise(setImmediate);
    const ended = ending.stop();
    finish();
    await ended;
    expect({ written: rows.written, aborted }).toEqual({ written: ['m sent'], aborted: false });
  });

  it('a queue that waits after a failure is asked again at the next look only, and at once after a success', async () => {
    const rows = new FakeRows(['a', 'b', 'c', 'd']);
    const waiting = (outcomes: Outcome[]) => {
      const queue = { ...rows.queue(() => Promise.resolve(outcomes.shift() ?? 'again')), waitsAfter: isFailure };
      return new OutboxWorker(queue, clock, { ...limits, concurrency: 1 });
    };
    const isFailure = (outcome: Outcome) => outcome === 'again';
    await waiting(['again', 'sent']).sendDue();
    expect(rows.written).toEqual(['a again']);
    await waiting(['sent', 'sent']).sendDue();
    expect(rows.written).toEqual(['a again', 'b sent', 'c sent', 'd again']);
  });

  it('refuses a lease that is not longer than the time limit of sending', () => {
    expect(() => worker(new FakeRows([]), sent, { leaseMs: 45_000, sendMs: 45_000 })).toThrow('lease');
  });
});
