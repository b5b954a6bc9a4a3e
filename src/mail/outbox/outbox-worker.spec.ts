import { Logger } from '@nestjs/common';
import { FakeClock } from '../../../test/support/fakes';
import { MailLimits, mailLimits } from '../mail-limits';
import { mailStatus } from '../mail-status';
import type { MailAttempt, Outcome } from './mail-attempt';
import type { ClaimedMail, OutboxRows } from './outbox-rows';
import { OutboxWorker } from './outbox-worker';

const clock = new FakeClock();

/** One process' view of the table: what is waiting, and what was written. */
class FakeRows {
  readonly written: string[] = [];
  failures = 0;
  constructor(readonly waiting: string[]) {}

  claim(wanted: number): Promise<ClaimedMail[]> {
    const ids = this.waiting.splice(0, wanted);
    return Promise.resolve(ids.map((id) => ({ id, claimedAt: clock.now() }) as ClaimedMail));
  }

  settle(mail: ClaimedMail, status: number): Promise<boolean> {
    if (this.failures-- > 0) return Promise.reject(new Error('the store is away'));
    this.written.push(`${mail.id} ${status}`);
    return Promise.resolve(true);
  }

  giveBack(mail: ClaimedMail, at: Date, charged: boolean): Promise<boolean> {
    this.written.push(`${mail.id} back ${at.getTime() - clock.now().getTime()} ${charged}`);
    return Promise.resolve(true);
  }
}

function worker(rows: FakeRows, make: (mail: ClaimedMail, signal: AbortSignal) => Promise<Outcome>, limits = {}) {
  const all: MailLimits = { ...mailLimits, stopMs: 30, ...limits };
  return new OutboxWorker(rows as unknown as OutboxRows, { make } as unknown as MailAttempt, clock, all);
}

const sent = () => Promise.resolve({ final: mailStatus.sent });

describe('OutboxWorker', () => {
  beforeAll(() => {
    Logger.overrideLogger(false);
  });

  it('has no more mails under way than it may, and goes on as they end', async () => {
    const rows = new FakeRows(Array.from({ length: 50 }, (_, n) => `m${n}`));
    let [underWay, most] = [0, 0];
    await worker(rows, async () => {
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay--;
      return sent();
    }).sendDue();
    expect(most).toBe(mailLimits.concurrency);
    expect(rows.written).toHaveLength(50);
  });

  it('marks a mail that was sent when the store is back, and does not send it again', async () => {
    const rows = new FakeRows(['m']);
    rows.failures = 2;
    const tried: string[] = [];
    await worker(rows, (mail) => {
      tried.push(mail.id);
      return sent();
    }).sendDue();
    expect(tried).toEqual(['m']);
    expect(rows.written).toEqual(['m 1']);
  });

  it('lives on after an error that nobody foresaw (T257)', async () => {
    const rows = new FakeRows(['bad', 'good']);
    await worker(rows, (mail) => (mail.id === 'bad' ? Promise.reject(new TypeError('bug')) : sent())).sendDue();
    expect(rows.written).toEqual(['good 1']);
  });

  it('at the end cuts what is under way, gives it back at once and uncharged, and claims nothing more', async () => {
    const rows = new FakeRows(['slow', 'next', 'more']);
    const ending = worker(
      rows,
      (_, signal) =>
        new Promise((resolve) => {
          const later = { again: new Date(clock.now().getTime() + 9000), charged: true };
          signal.addEventListener('abort', () => resolve(later));
        }),
      { concurrency: 1 },
    );
    void ending.sendDue();
    await new Promise(setImmediate);
    await ending.onModuleDestroy();
    expect(rows.written).toEqual(['slow back 0 false']);
    expect(rows.waiting).toEqual(['next', 'more']);
  });

  it('at the end lets a mail that is nearly through come to its end', async () => {
    const rows = new FakeRows(['m']);
    const ending = worker(rows, async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return sent();
    });
    void ending.sendDue();
    await new Promise(setImmediate);
    await ending.onModuleDestroy();
    expect(rows.written).toEqual(['m 1']);
  });

  it('does not start with a lease that ends before a sending may', () => {
    expect(() => worker(new FakeRows([]), sent, { leaseMs: 45_000, sendMs: 45_000 })).toThrow('lease');
  });
});
