import { EventEmitter } from 'node:events';
import type { FastifyInstance } from 'fastify';
import { DatabaseWaits } from './database-waits';
import { repeated } from './repeated';
import { storeUnavailable } from './store-failure';
import { repeatMs } from './time-limits';

describe('work that lost a deadlock or a certification', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const lost = (code: string) => storeUnavailable(Object.assign(new Error(code), { code }));

  /** @returns the outcome, the number of starts, and the milliseconds until the last one */
  async function run(failures: number, code: string, { waits = new DatabaseWaits(), eachMs = 0 } = {}) {
    const begun = performance.now();
    let starts = 0;
    let lastMs = 0;
    const work = async () => {
      starts++;
      lastMs = performance.now() - begun;
      if (eachMs > 0) await new Promise((resolve) => setTimeout(resolve, eachMs));
      if (starts <= failures) throw lost(code);
      return 'done';
    };
    const outcome = repeated(work, waits).catch((error: Error) => error);
    await jest.advanceTimersByTimeAsync(60_000);
    return { outcome: await outcome, starts, lastMs };
  }

  it.each(['ER_LOCK_DEADLOCK', 'ER_NEED_REPREPARE', 'ER_UNKNOWN_COM_ERROR', 'SQLITE_BUSY'])(
    'is run again after %s until it succeeds (T240)',
    async (code) => {
      expect(await run(20, code)).toMatchObject({ outcome: 'done', starts: 21 });
    },
  );

  it('is not started again after 2.5 s, so that its last statement is answered within 5 s', async () => {
    const { outcome, starts, lastMs } = await run(1_000_000, 'ER_LOCK_DEADLOCK');
    expect(outcome).toMatchObject({ entry: { code: 'COMMON_503001' } });
    expect(lastMs).toBeLessThanOrEqual(repeatMs);
    expect(starts).toBeGreaterThan(10);
    // The pauses grow, so a cluster that refuses everything does not get thousands of statements.
    expect(starts).toBeLessThan(50);
  });

  it.each(['ER_LOCK_WAIT_TIMEOUT', 'ER_ERROR_DURING_COMMIT', 'PROTOCOL_CONNECTION_LOST'])(
    'is not run again after %s: it would wait again, or it may have been committed (T240)',
    async (code) => {
      expect(await run(1, code)).toMatchObject({ outcome: { entry: { code: 'COMMON_503001' } }, starts: 1 });
    },
  );

  it('of one request shares its 4 s with every other wait for the database', async () => {
    const waits = new DatabaseWaits();
    let hook!: (request: object, reply: { raw: EventEmitter }, done: () => void) => void;
    waits.watch({ addHook: (_: string, given: typeof hook) => (hook = given) } as unknown as FastifyInstance);
    const slow = waits.begin(1000, () => undefined);
    await jest.advanceTimersByTimeAsync(500);
    slow();
    let starts!: Promise<number[]>;
    hook({}, { raw: new EventEmitter() }, () => {
      starts = (async () => {
        const last: number[] = [];
        for (let n = 0; n < 3; n++) {
          const begun = performance.now();
          let at = 0;
          const work = () => Promise.reject(((at = performance.now() - begun), lost('ER_LOCK_DEADLOCK')));
          await repeated(work, waits).catch(() => undefined);
          last.push(at);
        }
        return last;
      })();
    });
    await jest.advanceTimersByTimeAsync(60_000);
    const [first = 0, second = 0, third = 0] = await starts;
    expect(first).toBeGreaterThan(2000);
    expect(first + second + third).toBeLessThan(5000);
  });
});
