import { join } from 'node:path';
import { WorkerPool } from './worker-pool';

const threads = jest.requireActual<typeof import('node:worker_threads')>('node:worker_threads');
const { threadId } = threads;

const WORKER = join(__dirname, 'worker-pool.fixture.js');

describe('WorkerPool', () => {
  let pool: WorkerPool<string, number>;

  beforeEach(() => {
    pool = new WorkerPool(WORKER, 42);
  });

  afterEach(() => pool.close());

  it('runs parallel calls in separate threads, and keeps the threads for later calls', async () => {
    expect(pool.threads).toBe(0);
    const [first, second] = await Promise.all([pool.run('id'), pool.run('id')]);
    expect(new Set([threadId, first, second]).size).toBe(3);
    expect([first, second]).toContain(await pool.run('id'));
    expect(pool.threads).toBe(2);
  });

  it('passes its worker data to every thread', async () => {
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
  ])('a thread that %s fails only its own call, and the next call gets a new thread', async (_case, order, message) => {
    const [died, other] = await Promise.allSettled([pool.run(order), pool.run('id')]);
    expect(died).toMatchObject({ status: 'rejected', reason: { message } });
    expect(other).toMatchObject({ status: 'fulfilled' });
    await expect(Promise.all([pool.run('id'), pool.run('id')])).resolves.toHaveLength(2);
    expect(pool.threads).toBe(2);
  });

  it('a thread that cannot load a file makes COMMON_503001', async () => {
    await expect(pool.run('no descriptor')).rejects.toMatchObject({ entry: { code: 'COMMON_503001' } });
    await expect(pool.run('id')).resolves.toBeGreaterThan(0);
  });

  it('a thread that cannot start makes COMMON_503001, and the next one is as urgent as it would have been', async () => {
    await pool.run('crowded');
    const noThread = jest.spyOn(threads, 'Worker').mockImplementation(() => {
      throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
    });
    await expect(pool.run('urgent')).rejects.toMatchObject({ entry: { code: 'COMMON_503001' } });
    noThread.mockRestore();
    await expect(pool.run('urgent')).resolves.toBe(1);
    expect(pool.threads).toBe(1);
  });

  it('replaces a crowded thread by one urgent thread', async () => {
    const crowded = await pool.run('crowded');
    expect(pool.threads).toBe(0);
    expect(await Promise.all([pool.run('urgent'), pool.run('urgent')])).toEqual([1, 0]);
    expect(await pool.run('id')).not.toBe(crowded);
    expect(pool.threads).toBe(2);
  });

  it('keeps the process alive only while a call runs', async () => {
    const holding = () => process.getActiveResourcesInfo().filter((resource) => resource === 'MessagePort').length;
    const before = holding();
    await pool.run('id');
    expect(holding()).toBe(before);
    const running = pool.run('id');
    expect(holding()).toBe(before + 1);
    await running;
    expect(holding()).toBe(before);
  });

  it('close ends the threads, rejects the running calls and refuses new calls', async () => {
    const running = pool.run('never answered in time');
    const outcome = expect(running).rejects.toThrow('a worker ended');
    await pool.close();
    await outcome;
    expect(pool.threads).toBe(0);
    await expect(pool.run('id')).rejects.toThrow('closed');
  });
});
