import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { WorkerPool } from './worker-pool';

const WORKER = join(__dirname, 'worker-pool.fixture.js');

describe('WorkerPool', () => {
  let pool: WorkerPool<string, number>;

  beforeEach(() => {
    pool = new WorkerPool(WORKER, 42);
  });

  afterEach(() => pool.close());

  it('works in another thread, one for each call at a time, and keeps it for the next', async () => {
    expect(pool.threads).toBe(0);
    const [first, second] = await Promise.all([pool.run('id'), pool.run('id')]);
    expect(new Set([threadId, first, second]).size).toBe(3);
    expect([first, second]).toContain(await pool.run('id'));
    expect(pool.threads).toBe(2);
  });

  it('hands its data to every thread', async () => {
    await expect(pool.run('data')).resolves.toBe(42);
  });

  it('turns an error of the library into a rejection and keeps the thread', async () => {
    await expect(pool.run('fail')).rejects.toThrow('refused');
    await expect(pool.run('id')).resolves.toBeGreaterThan(0);
    expect(pool.threads).toBe(1);
  });

  it.each([
    ['ends', 'die', 'a worker ended with code 3'],
    ['throws', 'throw', 'not caught'],
  ])('a thread that %s fails only its own call, the next call gets a new thread', async (_case, order, message) => {
    const [died, other] = await Promise.allSettled([pool.run(order), pool.run('id')]);
    expect(died).toMatchObject({ status: 'rejected', reason: { message } });
    expect(other).toMatchObject({ status: 'fulfilled' });
    await expect(Promise.all([pool.run('id'), pool.run('id')])).resolves.toHaveLength(2);
    expect(pool.threads).toBe(2);
  });

  it('keeps the process alive while it works, and no longer', async () => {
    const holding = () => process.getActiveResourcesInfo().filter((resource) => resource === 'MessagePort').length;
    const before = holding();
    await pool.run('id');
    expect(holding()).toBe(before);
    const running = pool.run('id');
    expect(holding()).toBe(before + 1);
    await running;
    expect(holding()).toBe(before);
  });

  it('close ends the threads, rejects what still runs and takes no more', async () => {
    const running = pool.run('never answered in time');
    const outcome = expect(running).rejects.toThrow('a worker ended');
    await pool.close();
    await outcome;
    expect(pool.threads).toBe(0);
    await expect(pool.run('id')).rejects.toThrow('closed');
  });
});
