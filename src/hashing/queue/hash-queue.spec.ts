import { HashQueue, HashQueueOptions } from './hash-queue';
import { HashQueueFull } from '../password-hasher';

/** A queue whose jobs end when the test ends them, with a clock that the test moves. */
class Bench {
  readonly started: string[] = [];
  readonly queue: HashQueue<string, string>;
  now = 0;
  mostAtOnce = 0;
  private readonly ends = new Map<string, (error?: Error) => void>();

  constructor(options: Partial<HashQueueOptions<string, string>> = {}) {
    this.queue = new HashQueue({
      serve: (...names) => this.serve(names),
      fit: () => false,
      concurrency: 1,
      limit: 1000,
      maxWaitMs: 1_000_000,
      expectedMs: 100,
      now: () => this.now,
      ...options,
    });
  }

  ask(client: string, name: string, signal?: AbortSignal): Promise<string> {
    const answer = this.queue.run(client, name, signal);
    answer.catch(() => undefined);
    return answer;
  }

  private serve([first, second]: [string, string?]): Promise<string[]> {
    const name = second === undefined ? first : `${first} + ${second}`;
    return new Promise((resolve, reject) => {
      this.started.push(name);
      this.ends.set(name, (error) => (error ? reject(error) : resolve(name.split(' + '))));
      this.mostAtOnce = Math.max(this.mostAtOnce, this.ends.size);
    });
  }

  async end(name: string, error?: Error): Promise<void> {
    const end = this.ends.get(name);
    this.ends.delete(name);
    end?.(error);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Ends the running jobs, oldest first, until no job runs. */
  async endAll(): Promise<void> {
    while (this.ends.size > 0) await this.end([...this.ends.keys()][0] as string);
  }
}

describe('HashQueue', () => {
  it('never runs more jobs at a time than `concurrency`, and runs every job', async () => {
    const bench = new Bench({ concurrency: 3 });
    const answers = Array.from({ length: 40 }, (_, n) => bench.ask(`client ${n % 7}`, `job ${n}`));
    await bench.endAll();
    expect(await Promise.all(answers)).toHaveLength(40);
    expect(bench.mostAtOnce).toBe(3);
    expect(bench.queue.stats()).toMatchObject({ waiting: 0, running: 0, completed: 40 });
  });

  it('assertCapacity throws when a job would be refused, and reserves nothing', async () => {
    const bench = new Bench({ limit: 1 });
    bench.queue.assertCapacity('a');
    void bench.ask('a', 'runs');
    bench.queue.assertCapacity('a');
    bench.queue.assertCapacity('a');
    void bench.ask('a', 'waits');
    expect(() => bench.queue.assertCapacity('b')).toThrow(HashQueueFull);
    await expect(bench.ask('b', 'refused')).rejects.toBeInstanceOf(HashQueueFull);
    expect(bench.queue.stats()).toMatchObject({ waiting: 1, running: 1, refused: 2 });
    await bench.end('runs');
    bench.queue.assertCapacity('b');
    await bench.endAll();
    await bench.queue.close();
    expect(() => bench.queue.assertCapacity('b')).toThrow(HashQueueFull);
  });

  it('a reserved place counts like a waiting job, and only its holder can use it', async () => {
    const bench = new Bench({ limit: 1 });
    const [alice, bob] = [{}, {}];
    bench.queue.reserve('a', alice);
    bench.queue.reserve('b', bob);
    expect(() => bench.queue.reserve('c', {})).toThrow(HashQueueFull);
    await expect(bench.ask('c', 'refused')).rejects.toBeInstanceOf(HashQueueFull);
    bench.queue.assertCapacity('b', bob);
    void bench.queue.run('a', 'alice', undefined, undefined, alice);
    void bench.queue.run('b', 'bob', undefined, undefined, bob);
    expect(bench.queue.stats()).toMatchObject({ waiting: 1, running: 1 });
    await expect(bench.queue.run('b', 'again', undefined, undefined, bob)).rejects.toBeInstanceOf(HashQueueFull);
    await bench.endAll();
    expect(bench.started).toEqual(['alice', 'bob']);
  });

  it('a reserved place that was given back is free', () => {
    const bench = new Bench({ limit: 1 });
    const [alice, bob] = [{}, {}];
    bench.queue.reserve('a', alice);
    bench.queue.reserve('b', bob);
    bench.queue.release(alice);
    bench.queue.reserve('c', {});
    expect(() => bench.queue.reserve('d', {})).toThrow(HashQueueFull);
  });

  it('serves a client with one job after about one round, however many jobs of another client wait', async () => {
    const bench = new Bench();
    for (let n = 0; n < 900; n += 1) void bench.ask('flood', `flood ${n}`);
    void bench.ask('alice', 'alice');
    void bench.ask('bob', 'bob');
    await bench.endAll();
    expect(bench.started.indexOf('alice')).toBeLessThanOrEqual(3);
    expect(bench.started.indexOf('bob')).toBeLessThanOrEqual(4);
    expect(bench.started).toHaveLength(902);
  });

  it('lets a single client use the whole queue: fairness changes the order and refuses no job', async () => {
    const bench = new Bench({ limit: 50 });
    const answers = Array.from({ length: 51 }, (_, n) => bench.ask('alone', `job ${n}`));
    await bench.endAll();
    await expect(Promise.all(answers)).resolves.toHaveLength(51);
  });

  it('refuses a job over the limit at once, and never serves it', async () => {
    const bench = new Bench({ limit: 2 });
    for (const name of ['runs', 'waits 1', 'waits 2']) void bench.ask('a', name);
    await expect(bench.ask('b', 'too many')).rejects.toBeInstanceOf(HashQueueFull);
    expect(bench.queue.stats()).toMatchObject({ waiting: 2, running: 1, refused: 1 });
    await bench.endAll();
    expect(bench.started).not.toContain('too many');
  });

  it('refuses a job that would wait too long, and accepts a job of another client that would wait less', async () => {
    const bench = new Bench({ expectedMs: 100, maxWaitMs: 550 });
    void bench.ask('greedy', 'runs');
    for (let n = 1; n <= 5; n += 1) void bench.ask('greedy', `waits ${n}`);
    const refusal = await bench.ask('greedy', 'too late').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(HashQueueFull);
    expect(bench.queue.stats()).toMatchObject({ waiting: 5, refused: 1 });
    void bench.ask('modest', 'modest');
    expect(bench.queue.stats()).toMatchObject({ waiting: 6, refused: 1 });
  });

  it('a refusal contains the time to wait before a retry, in whole seconds, at least one', async () => {
    const short = new Bench({ expectedMs: 100, maxWaitMs: 50 });
    void short.ask('a', 'runs');
    await expect(short.ask('b', 'refused')).rejects.toMatchObject({ retryAfterSeconds: 1 });
    const long = new Bench({ expectedMs: 1500, maxWaitMs: 3000 });
    for (const name of ['runs', 'waits']) void long.ask('a', name);
    await expect(long.ask('b', 'refused')).rejects.toMatchObject({ retryAfterSeconds: 4 });
  });

  it('with twice the concurrency, the expected wait for the jobs ahead is half as long', async () => {
    const bench = new Bench({ concurrency: 2, expectedMs: 100, maxWaitMs: 200 });
    for (const name of ['runs 1', 'runs 2', 'waits']) void bench.ask('a', name);
    expect(bench.queue.stats()).toMatchObject({ running: 2, waiting: 1, refused: 0 });
    void bench.ask('a', 'fits as well');
    expect(bench.queue.stats()).toMatchObject({ waiting: 2, refused: 0 });
    await expect(bench.ask('a', 'does not fit')).rejects.toBeInstanceOf(HashQueueFull);
  });

  it('learns the time of one job from the completed jobs', async () => {
    const bench = new Bench({ expectedMs: 1 });
    for (let n = 0; n < 60; n += 1) {
      void bench.ask('a', `job ${n}`);
      bench.now += 400;
      await bench.end(`job ${n}`);
    }
    expect(bench.queue.stats().averageMs).toBeGreaterThan(390);
    expect(bench.queue.stats().averageMs).toBeLessThanOrEqual(400);
  });

  describe('many jobs of one moment', () => {
    const crowd = (bench: Bench) =>
      Promise.allSettled(Array.from({ length: 100 }, (_, n) => bench.ask(`c${n}`, `j${n}`)));
    /** The two workers serve jobs of this duration, one after the other. */
    const learn = async (bench: Bench, ms: number, calls: number) => {
      for (let n = 0; n < calls; n++) {
        void bench.ask('before', `before ${n}`);
        bench.now += ms;
        await bench.end(`before ${n}`);
      }
    };

    // Two jobs run, 98 wait. The last one waits for half a running job and for 97 jobs on two workers, and takes one job itself.
    it.each([
      { what: 'nothing is measured, and they fit', expectedMs: 39, calls: 0, ms: 0, accepted: 100 },
      { what: 'nothing is measured, and they do not fit', expectedMs: 80, calls: 0, ms: 0, accepted: 50 },
      { what: 'the machine is slower than assumed', expectedMs: 10, calls: 20, ms: 80, accepted: 50 },
      { what: 'the machine is faster than assumed', expectedMs: 400, calls: 20, ms: 39, accepted: 100 },
      { what: 'only the first job of each worker was slow', expectedMs: 39, calls: 2, ms: 20_000, accepted: 100 },
    ])(
      'are refused only when they would wait longer than the bound: $what',
      async ({ expectedMs, calls, ms, accepted }) => {
        const bench = new Bench({ concurrency: 2, expectedMs, maxWaitMs: 2000 });
        await learn(bench, ms, calls);
        const answers = crowd(bench);
        await bench.endAll();
        const outcomes = await answers;
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(accepted);
        expect(bench.queue.stats().refused).toBe(100 - accepted);
      },
    );

    it('are not refused by what was measured on a busy machine a minute ago', async () => {
      const bench = new Bench({ concurrency: 2, expectedMs: 39, maxWaitMs: 2000 });
      await learn(bench, 900, 20);
      bench.now += 60_001;
      const answers = crowd(bench);
      await bench.endAll();
      await answers;
      expect(bench.queue.stats().refused).toBe(0);
    });

    it.each([
      {
        what: 'are expected to be served in pairs, also when the jobs before them came one by one',
        pairs: true,
        refused: 0,
      },
      { what: 'of a kind that is never served in pairs are not expected to be', pairs: false, refused: 32 },
    ])('$what', async ({ pairs, refused }) => {
      const bench = new Bench({
        ...{ concurrency: 2, expectedMs: 58, gainOfPairs: 1.5, maxWaitMs: 2000 },
        fit: () => pairs,
      });
      await learn(bench, 58, 20);
      const answers = crowd(bench);
      await bench.endAll();
      await answers;
      expect(bench.queue.stats().refused).toBe(refused);
    });

    it('are not expected to be served in pairs when the jobs before them did not fit each other', async () => {
      const bench = new Bench({ expectedMs: 60, gainOfPairs: 1.5, maxWaitMs: 60_000 });
      for (let n = 0; n < 20; n++) void bench.ask('before', `before ${n}`);
      for (let n = 0; n < 20; n++) {
        bench.now += 60;
        await bench.end(`before ${n}`);
      }
      void bench.ask('a', 'runs');
      for (let n = 0; n < 1000; n++) void bench.ask('a', `waits ${n}`);
      const refusal: unknown = await bench.ask('a', 'one too many').catch((error: unknown) => error);
      expect((refusal as HashQueueFull).retryAfterSeconds).toBe(61);
    });

    it('of cheap and costly jobs: a costly one counts with its work', async () => {
      const work = (name: string) => (name.includes('cheap') ? 0.25 : 1);
      const bench = new Bench({ work, expectedMs: 100, maxWaitMs: Infinity });
      for (let n = 0; n < 10; n++) {
        for (const [name, ms] of [
          [`cheap ${n}`, 100],
          [`costly ${n}`, 400],
        ] as const) {
          void bench.ask('a', name);
          bench.now += ms;
          await bench.end(name);
        }
      }
      void bench.ask('a', 'runs');
      for (let n = 0; n < 1000; n++) void bench.ask('a', `waits ${n}`);
      // 1000 waiting jobs of 250 ms on average, half of one that runs, and the new one.
      const refusal: unknown = await bench.ask('a', 'one too many').catch((error: unknown) => error);
      expect((refusal as HashQueueFull).retryAfterSeconds).toBe(251);
    });
  });

  it('accepts a job while a worker is free, whatever the expected wait', async () => {
    const bench = new Bench({ expectedMs: 60_000, maxWaitMs: 1 });
    const answer = bench.ask('a', 'only');
    await bench.endAll();
    await expect(answer).resolves.toBe('only');
  });

  it('removes an abandoned job from the queue without serving it, so that another job can wait', async () => {
    const bench = new Bench({ limit: 1 });
    const abort = new AbortController();
    void bench.ask('a', 'runs');
    const abandoned = bench.ask('a', 'abandoned', abort.signal);
    abort.abort(new Error('the client has gone'));
    await expect(abandoned).rejects.toThrow('the client has gone');
    void bench.ask('b', 'takes the place');
    expect(bench.queue.stats()).toMatchObject({ waiting: 1, abandoned: 1, refused: 0 });
    await bench.endAll();
    expect(bench.started).toEqual(['runs', 'takes the place']);
  });

  it('does not start a job whose signal is already aborted', async () => {
    const bench = new Bench();
    await expect(bench.ask('a', 'dead', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(bench.started).toEqual([]);
  });

  it('finishes a running job when its request is abandoned', async () => {
    const bench = new Bench();
    const abort = new AbortController();
    void bench.ask('a', 'runs');
    const second = bench.ask('a', 'second', abort.signal);
    await bench.end('runs');
    abort.abort();
    await bench.end('second');
    await expect(second).resolves.toBe('second');
    expect(bench.queue.stats()).toMatchObject({ abandoned: 0, completed: 2 });
  });

  it('refuses a job that has waited more than twice the maximum wait, and never serves it', async () => {
    const bench = new Bench({ maxWaitMs: 1000 });
    void bench.ask('a', 'runs');
    const late = bench.ask('a', 'late');
    bench.now = 1500;
    const fresh = bench.ask('b', 'fresh');
    bench.now = 2001;
    await bench.end('runs');
    await expect(late).rejects.toMatchObject({ name: 'HashQueueFull', retryAfterSeconds: 1 });
    await bench.endAll();
    await expect(fresh).resolves.toBe('fresh');
    expect(bench.started).toEqual(['runs', 'fresh']);
  });

  it('serves the next job after a failed job, and rejects only the failed one', async () => {
    const bench = new Bench();
    const failing = bench.ask('a', 'fails');
    const next = bench.ask('a', 'next');
    await bench.end('fails', new Error('a worker ended'));
    await bench.endAll();
    await expect(failing).rejects.toThrow('a worker ended');
    await expect(next).resolves.toBe('next');
  });

  it('close refuses waiting and new jobs, and resolves only after the running jobs have ended', async () => {
    const bench = new Bench();
    const running = bench.ask('a', 'runs');
    const waiting = bench.ask('a', 'waits');
    let closed = false;
    const closing = Promise.all([bench.queue.close(), bench.queue.close()]).then(() => (closed = true));
    await expect(waiting).rejects.toBeInstanceOf(HashQueueFull);
    await expect(bench.ask('a', 'comes')).rejects.toBeInstanceOf(HashQueueFull);
    expect(closed).toBe(false);
    await bench.end('runs');
    await closing;
    await expect(running).resolves.toBe('runs');
    expect(bench.started).toEqual(['runs']);
  });

  describe('pairs of jobs', () => {
    const pairs = { fit: (first: string, second: string) => !`${first} ${second}`.includes('lone') };

    it('serves two jobs together when they fit and one follows the other, each with its own reply', async () => {
      const bench = new Bench(pairs);
      const answers = ['first', 'second', 'third', 'fourth'].map((name) => bench.ask(name, name));
      await bench.endAll();
      expect(bench.started).toEqual(['first', 'second + third', 'fourth']);
      await expect(Promise.all(answers)).resolves.toEqual(['first', 'second', 'third', 'fourth']);
      expect(bench.queue.stats()).toMatchObject({ completed: 4, running: 0, waiting: 0 });
    });

    it('starts a job without waiting for a second one', async () => {
      const bench = new Bench({ ...pairs, concurrency: 2 });
      void bench.ask('a', 'one');
      void bench.ask('b', 'two');
      void bench.ask('c', 'three');
      expect(bench.started).toEqual(['one', 'two']);
      await bench.end('one');
      expect(bench.started).toEqual(['one', 'two', 'three']);
    });

    it('never changes the order of the jobs to make a pair', async () => {
      const bench = new Bench(pairs);
      for (const name of ['runs', 'first', 'lone', 'second']) void bench.ask(name, name);
      await bench.endAll();
      expect(bench.started).toEqual(['runs', 'first', 'lone', 'second']);
    });

    it('pairs two jobs that are next in the round, not two jobs of one client while others wait', async () => {
      const bench = new Bench(pairs);
      void bench.ask('greedy', 'runs');
      for (const name of ['g1', 'g2', 'g3']) void bench.ask('greedy', name);
      void bench.ask('modest', 'm1');
      await bench.endAll();
      expect(bench.started).toEqual(['runs', 'g1 + m1', 'g2 + g3']);
    });

    it('does not pair a job with one that was abandoned or has waited too long', async () => {
      const bench = new Bench({ ...pairs, maxWaitMs: 1000 });
      void bench.ask('a', 'runs');
      const abort = new AbortController();
      const late = bench.ask('b', 'late');
      void bench.ask('c', 'abandoned', abort.signal);
      bench.now = 1500;
      void bench.ask('d', 'fresh');
      void bench.ask('e', 'another');
      abort.abort();
      bench.now = 2001;
      await bench.end('runs');
      await expect(late).rejects.toBeInstanceOf(HashQueueFull);
      await bench.endAll();
      expect(bench.started).toEqual(['runs', 'fresh + another']);
    });

    it('rejects both jobs of a pair when serving them fails, and serves the next job', async () => {
      const bench = new Bench(pairs);
      void bench.ask('a', 'runs');
      const both = [bench.ask('b', 'first'), bench.ask('c', 'second')];
      const next = bench.ask('d', 'next');
      await bench.end('runs');
      await bench.end('first + second', new Error('a worker ended'));
      await bench.endAll();
      const outcomes = await Promise.allSettled(both);
      expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
      await expect(next).resolves.toBe('next');
    });

    it('learns the worker time of one job, and the duration of one call of `serve`', async () => {
      const bench = new Bench({ ...pairs, expectedMs: 80_000, maxWaitMs: Infinity });
      const fill = (jobs: number) => Array.from({ length: jobs }, (_, n) => void bench.ask('a', `job ${n}`));
      fill(201);
      while (bench.queue.stats().running > 0) {
        bench.now += 80_000;
        await bench.end(bench.started.at(-1) as string);
      }
      expect(bench.queue.stats().averageMs).toBeCloseTo(40_000, -2);

      const limited = bench.queue;
      fill(1001);
      expect(limited.stats()).toMatchObject({ running: 1, waiting: 1000, refused: 0 });
      // Half of 80 s for the running job, 40 s for each of 1000 waiting jobs, and 80 s for the new job.
      const refusal: unknown = await bench.ask('a', 'one too many').catch((error: unknown) => error);
      expect(Math.abs((refusal as HashQueueFull).retryAfterSeconds - 40_120)).toBeLessThan(5);
    });

    it('refuses a late job that it finds while it looks for the second job of a pair', async () => {
      const bench = new Bench({ ...pairs, maxWaitMs: 1000 });
      for (const name of ['runs', 'lone']) void bench.ask('a', name);
      const late = bench.ask('a', 'late');
      bench.now = 1500;
      void bench.ask('b', 'fresh');
      await bench.end('runs');
      bench.now = 2001;
      await bench.end('lone');
      await expect(late).rejects.toBeInstanceOf(HashQueueFull);
      expect(bench.started).toEqual(['runs', 'lone', 'fresh']);
    });
  });
});
