import { Logger } from '@nestjs/common';
import { FakeClock } from '../../../test/support/fakes';
import { MailLimits, mailLimits } from '../mail-limits';
import { mailStatus } from '../mail-status';
import type { MailAttempt, Outcome } from './mail-attempt';
import type { ClaimedMail, OutboxRows } from './outbox-rows';
import { OutboxWorker } from './outbox-worker';

const clock = new FakeClock();

/** A fake of the outbox table: the waiting mails, and a list of the writes. */
class FakeRows {
  readonly written: string[] = [];
  failures = 0;
  constructor(readonly waiting: string[]) {}

  claim(wanted: number): Promise<ClaimedMail[]> {
    const ids = this.waiting.splice(0, wanted);
    return Promise.resolve(ids.map((id) => ({ id, claimedAt: clock.now() }) as ClaimedMail));
  }

  settle(mail: ClaimedMail, status: number): Promise<boolean> {
    if (this.failures-- > 0) return Promise.reject(new Error('the database is unavailable'));
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

  it('sends at most `concurrency` mails at the same time and claims more as they end', async () => {
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

  it('retries the write of a sent mail until the database is back, and does not send the mail again', async () => {
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

  it('goes on with the next mail after an unexpected error (T257)', async () => {
    const rows = new FakeRows(['bad', 'good']);
    await worker(rows, (mail) => (mail.id === 'bad' ? Promise.reject(new TypeError('bug')) : sent())).sendDue();
    expect(rows.written).toEqual(['good 1']);
  });

  it('on shutdown aborts running attempts, gives their mails back without counting them, and claims no more', async () => {
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
    const ended = ending.onModuleDestroy();
    finish();
    await ended;
    expect({ written: rows.written, aborted }).toEqual({ written: ['m 1'], aborted: false });
  });

  it('refuses a lease that is not longer than the time limit of sending', () => {
    expect(() => worker(new FakeRows([]), sent, { leaseMs: 45_000, sendMs: 45_000 })).toThrow('lease');
  });
});
