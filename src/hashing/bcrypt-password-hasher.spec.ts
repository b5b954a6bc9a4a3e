import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { type HashClient, HashQueueFull, PasswordHasher, PasswordNotHashable } from './password-hasher';
import { BcryptEngine, Comparison, openEngine } from './engine/bcrypt-engine';
import { costOf } from './bcrypt-format';
import type { ForeignHash } from './foreign-hash';
import { BcryptPasswordHasher, PasswordHasherOptions } from './bcrypt-password-hasher';

const COST = 4;

const from = (ip: string, signal?: AbortSignal): HashClient => ({ ip, signal });

/** A real engine that records its calls, one line with the costs for each, so that tests can compare the work. */
class CountingEngine implements BcryptEngine {
  readonly work: string[] = [];
  readonly passwords: string[] = [];

  constructor(private readonly engine: BcryptEngine) {}

  get name() {
    return this.engine.name;
  }

  hash(password: string, cost: number): Promise<string> {
    this.work.push(`hash ${cost}`);
    this.passwords.push(password);
    return this.engine.hash(password, cost);
  }

  verify(password: string, hash: string): Promise<boolean> {
    this.work.push(`verify ${costOf(hash)}`);
    this.passwords.push(password);
    return this.engine.verify(password, hash);
  }

  verifyPair(first: Comparison, second: Comparison): Promise<[boolean, boolean]> {
    this.work.push(`verify ${costOf(first.hash)} + ${costOf(second.hash)}`);
    this.passwords.push(first.password, second.password);
    return this.engine.verifyPair(first, second);
  }

  verifyForeign(password: string, hash: ForeignHash): Promise<boolean> {
    this.work.push(hash.algorithm);
    return this.engine.verifyForeign(password, hash);
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}

describe('BcryptPasswordHasher', () => {
  let engine: CountingEngine;
  let hasher: BcryptPasswordHasher;
  let reports: string[];
  let hash: string;

  function hasherWith(options: Partial<PasswordHasherOptions> = {}): BcryptPasswordHasher {
    return new BcryptPasswordHasher({
      cost: COST,
      concurrency: 2,
      queueLimit: 1000,
      // The threads have a low priority: on a busy machine a job can wait for seconds.
      queueMaxWaitMs: 60_000,
      now: () => performance.now(),
      engine,
      report: (problem) => reports.push(problem),
      ...options,
    });
  }

  beforeEach(async () => {
    engine = new CountingEngine(openEngine('native'));
    reports = [];
    hasher = hasherWith();
    hash = await hasher.hash('correct horse', from('ip'));
    engine.work.length = 0;
    engine.passwords.length = 0;
  });

  afterEach(() => hasher.close());

  it('is a PasswordHasher, the class that is the injection token', () => {
    expect(hasher).toBeInstanceOf(PasswordHasher);
  });

  it('hashes with the configured cost and a new salt, and matches only the password it hashed', async () => {
    const other = await hasher.hash('correct horse', from('ip'));
    expect(hash).toMatch(/^\$2b\$04\$/);
    expect(other).not.toBe(hash);
    await expect(hasher.matches('correct horse', hash, from('ip'))).resolves.toBe(true);
    await expect(hasher.matches('correct horse ', hash, from('ip'))).resolves.toBe(false);
  });

  it('T119 a password of 72 bytes is hashed and matched, one of 73 bytes is refused before any work', async () => {
    const longest = `${'a'.repeat(70)}é`;
    await expect(hasher.matches(longest, await hasher.hash(longest, from('ip')), from('ip'))).resolves.toBe(true);
    engine.work.length = 0;
    await expect(hasher.hash(`${longest}b`, from('ip'))).rejects.toBeInstanceOf(PasswordNotHashable);
    expect(engine.work).toEqual([]);
  });

  it('T119 of several passwords with the same first 72 bytes, only the one that was set matches', async () => {
    const stored = await hasher.hash('a'.repeat(72), from('ip'));
    for (const longer of ['a'.repeat(73), `${'a'.repeat(72)}b`, 'a'.repeat(10_000)]) {
      await expect(hasher.matches(longer, stored, from('ip'))).resolves.toBe(false);
    }
    // The hash comes from a library that cuts off after 72 bytes. The owner's long password is refused as well.
    const cut = await engine.hash('b'.repeat(80), COST);
    await expect(hasher.matches('b'.repeat(80), cut, from('ip'))).resolves.toBe(false);
  });

  it.each([
    ['NUL inside', 'correct\0horse'],
    ['NUL after the right password', 'correct horse\0'],
    ['a lone surrogate', 'correct \ud800'],
  ])('T120 %s is never set and never matches', async (_case, password) => {
    await expect(hasher.hash(password, from('ip'))).rejects.toBeInstanceOf(PasswordNotHashable);
    await expect(hasher.matches(password, hash, from('ip'))).resolves.toBe(false);
  });

  it('T120 a lone surrogate does not match the hash of U+FFFD, which replaces it in UTF-8', async () => {
    const replaced = await hasher.hash('\ufffd', from('ip'));
    await expect(hasher.matches('\ud800', replaced, from('ip'))).resolves.toBe(false);
  });

  it.each<[string, string, () => string | null]>([
    ['a wrong password', 'wrong', () => hash],
    ['an unknown user', 'correct horse', () => null],
    ['a password over 72 bytes', 'a'.repeat(73), () => hash],
    ['a password with NUL', 'correct horse\0', () => hash],
    ['a password over 72 bytes of an unknown user', 'a'.repeat(73), () => null],
    ['a stored hash of cost 15', 'correct horse', () => hash.replace('$04$', '$15$')],
    ['a stored value that is no hash', 'correct horse', () => 'plain text'],
  ])('W21 the work for %s is exactly one comparison of the configured cost', async (_case, password, stored) => {
    await expect(hasher.matches(password, stored(), from('ip'))).resolves.toBe(false);
    expect(engine.work).toEqual(['verify 4']);
    expect(Buffer.byteLength(engine.passwords[0] ?? '')).toBeLessThanOrEqual(72);
  });

  it.each([
    ['the right password', 'correct horse', true],
    ['a wrong password', 'wrong', false],
    ['a password over 72 bytes', 'a'.repeat(73), false],
    ['a password with NUL', 'correct horse\0', false],
  ])(
    'W12 a hash of another system takes its own work and one comparison, for %s',
    async (_case, password, expected) => {
      const foreign = `sha256-salted:s:${createHash('sha256').update('scorrect horse').digest('hex')}`;
      await expect(hasher.matches(password, foreign, from('ip'))).resolves.toBe(expected);
      expect(engine.work).toEqual(['sha256-salted', 'verify 4']);
    },
  );

  it('an unhashable password does not match, even when the stored hash is that of the empty password', async () => {
    const empty = await hasher.hash('', from('ip'));
    await expect(hasher.matches('a'.repeat(73), empty, from('ip'))).resolves.toBe(false);
  });

  it('accepts a stored hash of another cost, and needs to renew it only when its cost is lower', async () => {
    const older = await engine.hash('correct horse', 5);
    await expect(hasher.matches('correct horse', older, from('ip'))).resolves.toBe(true);
    expect(hasher.needsRenewal(older)).toBe(false);
    expect(hasherWith({ cost: 6 }).needsRenewal(older)).toBe(true);
    expect(hasher.needsRenewal(hash)).toBe(false);
    expect(hasher.needsRenewal('plain text')).toBe(true);
  });

  describe('when the time of a comparison must not reveal the cost of the stored hash (W10)', () => {
    /** The bcrypt rounds of the recorded comparisons: 2 to the power of the cost for each password. */
    const rounds = () =>
      engine.work
        .flatMap((line) => line.replace('verify ', '').split(' + '))
        .reduce((sum, cost) => sum + 2 ** Number(cost), 0);

    it.each([4, 5, 6, 7])('a stored hash of cost %i takes the rounds of the configured cost 7', async (cost) => {
      const stored = await engine.hash('correct horse', cost);
      const level = hasherWith({ cost: 7, levelled: true });
      for (const [typed, expected] of [
        ['correct horse', true],
        ['wrong', false],
        ['a'.repeat(73), false],
      ] as const) {
        engine.work.length = 0;
        await expect(level.matches(typed, stored, from('ip'))).resolves.toBe(expected);
        expect(rounds()).toBe(2 ** 7);
      }
    });

    it('two comparisons that share a thread take the rounds of both', async () => {
      const stored = await engine.hash('correct horse', 5);
      const level = hasherWith({ cost: 7, levelled: true, concurrency: 1 });
      engine.work.length = 0;
      const answers = ['other', 'correct horse', 'wrong'].map((typed, n) =>
        level.matches(typed, stored, from(`ip ${n}`)),
      );
      await expect(Promise.all(answers)).resolves.toEqual([false, true, false]);
      expect(engine.work).toEqual([
        ...['verify 5', 'verify 5', 'verify 6'],
        ...['verify 5 + 5', 'verify 5 + 5', 'verify 6 + 6'],
      ]);
    });

    it('a comparison and its missing rounds are one job of the queue, so no other job runs in between', async () => {
      const stored = await engine.hash('correct horse', 5);
      const level = hasherWith({ cost: 7, levelled: true, concurrency: 1 });
      engine.work.length = 0;
      await Promise.all([level.matches('wrong', stored, from('a')), level.hash('new', from('b'))]);
      expect(engine.work).toEqual(['verify 5', 'verify 5', 'verify 6', 'hash 7']);
      expect(level.stats().completed).toBe(2);
    });

    it('a stored hash of a higher cost is compared at its own cost: that time cannot be hidden', async () => {
      const stored = await engine.hash('correct horse', 6);
      engine.work.length = 0;
      await expect(hasherWith({ levelled: true }).matches('correct horse', stored, from('ip'))).resolves.toBe(true);
      expect(engine.work).toEqual(['verify 6']);
    });

    it('without `levelled`, a comparison takes the rounds of the stored hash', async () => {
      const stored = await engine.hash('correct horse', 5);
      engine.work.length = 0;
      await hasherWith({ cost: 7 }).matches('wrong', stored, from('ip'));
      expect(engine.work).toEqual(['verify 5']);
    });
  });

  it('W22 a stored hash of cost 15 is refused unverified and reported without the hash', async () => {
    const costly = hash.replace('$04$', '$15$');
    await expect(hasher.matches('correct horse', costly, from('ip'))).resolves.toBe(false);
    expect(reports).toEqual(['a stored password hash of cost 15 was refused: the limit is 14']);
  });

  it('reports a stored value that is no hash, without the value, and reports no unknown user', async () => {
    await hasher.matches('correct horse', 'plain text', from('ip'));
    await hasher.matches('correct horse', null, from('ip'));
    expect(reports).toEqual(['a stored password is not a hash of a known format and was refused']);
  });

  it('runs at most `concurrency` jobs at a time', async () => {
    expect(hasher.stats()).toMatchObject({ engine: 'native', concurrency: 2 });
    const single = hasherWith({ concurrency: 1 });
    const answers = Array.from({ length: 5 }, () => single.matches('wrong', hash, from('ip')));
    expect(single.stats()).toMatchObject({ running: 1, waiting: 4 });
    await expect(Promise.all(answers)).resolves.toEqual(Array(5).fill(false));
  });

  it('compares two passwords at once when two wait, and gives each caller its own result', async () => {
    const single = hasherWith({ concurrency: 1 });
    const answers = ['correct horse', 'wrong', 'correct horse', 'correct horse', 'wrong'].map((password, n) =>
      single.matches(password, hash, from(`ip ${n}`)),
    );
    await expect(Promise.all(answers)).resolves.toEqual([true, false, true, true, false]);
    expect(engine.work).toEqual(['verify 4', 'verify 4 + 4', 'verify 4 + 4']);
  });

  it('W21 an unknown user in a pair also takes one comparison of the configured cost, and does not match', async () => {
    const single = hasherWith({ concurrency: 1 });
    const first = single.matches('wrong', hash, from('first ip'));
    const unknown = single.matches('correct horse', null, from('ip'));
    const unhashable = single.matches('a'.repeat(73), hash, from('other ip'));
    await expect(Promise.all([first, unknown, unhashable])).resolves.toEqual([false, false, false]);
    expect(engine.work).toEqual(['verify 4', 'verify 4 + 4']);
  });

  it('compares hashes of different costs one at a time, and makes new hashes one at a time', async () => {
    const single = hasherWith({ concurrency: 1 });
    const older = await engine.hash('correct horse', 5);
    engine.work.length = 0;
    const answers = [
      single.matches('correct horse', hash, from('a')),
      single.matches('correct horse', hash, from('b')),
      single.matches('correct horse', older, from('c')),
      single.hash('new', from('d')),
      single.hash('new', from('e')),
      single.matches('correct horse', hash, from('f')),
    ];
    await Promise.all(answers);
    expect(engine.work).toEqual(['verify 4', 'verify 4', 'verify 5', 'hash 4', 'hash 4', 'verify 4']);
  });

  it.each([
    { what: 'a hash of half the rounds', levelled: false, stored: 4, work: 0.5 },
    { what: 'a hash of half the rounds, whose rounds are filled up', levelled: true, stored: 4, work: 1 },
    { what: 'a hash of the configured cost', levelled: true, stored: 5, work: 1 },
    { what: 'a hash of twice the rounds', levelled: true, stored: 6, work: 2 },
    { what: 'an unknown user', levelled: false, stored: null, work: 1 },
  ])('expects the time of a job from its rounds: $what', async ({ levelled, stored, work }) => {
    const one = hasherWith({ cost: 5, levelled });
    const measured = jest.spyOn(one['queue']['times'], 'end');
    await one.matches('wrong', stored === null ? null : await engine.hash('correct horse', stored), from('ip'));
    expect(measured).toHaveBeenCalledWith(expect.any(Number), expect.objectContaining({ work }));
  });

  it('treats the addresses of one IPv6 /64 as one client of the queue, as the rate limits do (T048)', async () => {
    const single = hasherWith({ concurrency: 1 });
    const running = single.hash('running', from('203.0.113.1'));
    const waiting = [
      ...['::1', '::2', '::3'].map((end) => single.hash(`greedy ${end}`, from(`2001:db8:1:2${end}`))),
      single.hash('stranger', from('2001:db8:1:3::1')),
    ];
    await Promise.all([running, ...waiting]);
    expect(engine.passwords).toEqual(['running', 'greedy ::1', 'stranger', 'greedy ::2', 'greedy ::3']);
  });

  it('T273 when the queue is full, a job is refused at once with the time to retry', async () => {
    const small = hasherWith({ concurrency: 1, queueLimit: 1 });
    const accepted = [small.matches('correct horse', hash, from('ip')), small.hash('another', from('ip'))];
    const refusal = await small.matches('correct horse', hash, from('ip')).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(HashQueueFull);
    expect(small.stats()).toMatchObject({ running: 1, waiting: 1, refused: 1 });
    await Promise.all(accepted);
  });

  it('expects a longer time for a higher cost before any job was measured', async () => {
    const costly = hasherWith({ cost: 14, concurrency: 1, queueMaxWaitMs: 500 });
    const running = costly.matches('correct horse', hash, from('ip'));
    await expect(costly.matches('correct horse', hash, from('ip'))).rejects.toBeInstanceOf(HashQueueFull);
    await running;
  });

  it('removes the job of an abandoned request from the queue without hashing', async () => {
    const single = hasherWith({ concurrency: 1 });
    const abort = new AbortController();
    const running = single.matches('correct horse', hash, from('ip'));
    const abandoned = [single.matches('x', hash, from('ip', abort.signal)), single.hash('x', from('ip', abort.signal))];
    abort.abort(new Error('gone'));
    const outcomes = await Promise.allSettled(abandoned);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
    await expect(running).resolves.toBe(true);
    expect(engine.work).toEqual(['verify 4']);
  });

  it('each request has a span for its own wait and then one for its bcrypt, also when two share a thread', async () => {
    const request = new AsyncLocalStorage<string>();
    const spans: string[] = [];
    const single = hasherWith({
      concurrency: 1,
      span: async (name, work) => {
        spans.push(`${request.getStore()} ${name} begins`);
        return work().finally(() => spans.push(`${request.getStore()} ${name} ends`));
      },
    });
    const ask = (who: string) => request.run(who, () => single.matches('correct horse', hash, from(who)));
    expect(await Promise.all(['a', 'b', 'c'].map(ask))).toEqual([true, true, true]);
    for (const who of ['a', 'b', 'c']) {
      const expected = ['hash queue begins', 'hash queue ends', 'bcrypt begins', 'bcrypt ends'];
      expect(spans.filter((line) => line.startsWith(who))).toEqual(expected.map((line) => `${who} ${line}`));
    }
    // The second request waits while the first one is compared.
    expect(spans.indexOf('b hash queue ends')).toBeGreaterThan(spans.indexOf('a bcrypt begins'));
  });

  it('a request that is refused by the queue has no span for a bcrypt', async () => {
    const spans: string[] = [];
    const small = hasherWith({ concurrency: 1, queueLimit: 1, span: (name, work) => (spans.push(name), work()) });
    const accepted = [
      small.matches('correct horse', hash, from('ip')),
      small.matches('correct horse', hash, from('ip')),
    ];
    await expect(small.matches('correct horse', hash, from('ip'))).rejects.toBeInstanceOf(HashQueueFull);
    await Promise.all(accepted);
    expect(spans.sort()).toEqual(['bcrypt', 'bcrypt', 'hash queue', 'hash queue', 'hash queue']);
  });

  it('with HASH_PAIRS=off each password is compared alone, also when several wait', async () => {
    const single = hasherWith({ concurrency: 1, pairs: false });
    engine.work.length = 0;
    const answers = ['correct horse', 'wrong', 'correct horse'].map((typed, n) =>
      single.matches(typed, hash, from(`ip ${n}`)),
    );
    expect(await Promise.all(answers)).toEqual([true, false, true]);
    expect(engine.work).toEqual(['verify 4', 'verify 4', 'verify 4']);
  });

  it('with bcryptjs, hashes and matches are the same, and the slower library is reported', async () => {
    const fallback = hasherWith({ engine: openEngine('bcryptjs') });
    await expect(fallback.matches('correct horse', hash, from('ip'))).resolves.toBe(true);
    await expect(hasher.matches('another', await fallback.hash('another', from('ip')), from('ip'))).resolves.toBe(true);
    expect(fallback.stats().engine).toBe('bcryptjs');
    expect(reports).toHaveLength(1);
    await fallback.close();
  });

  it('opens the native engine when no engine is given and its binary loads', async () => {
    const own = new BcryptPasswordHasher({ cost: 4, concurrency: 1, queueLimit: 1, queueMaxWaitMs: 1, now: () => 0 });
    expect(own.stats().engine).toBe('native');
    await own.close();
  });

  it('at shutdown, running jobs end, waiting and new jobs are refused, and the threads end', async () => {
    const single = hasherWith({ concurrency: 1 });
    const running = single.matches('correct horse', hash, from('ip'));
    const waiting = single.matches('correct horse', hash, from('ip')).catch((error: unknown) => error);
    await single.onApplicationShutdown();
    await expect(running).resolves.toBe(true);
    expect(await waiting).toBeInstanceOf(HashQueueFull);
    await expect(single.matches('correct horse', hash, from('ip'))).rejects.toBeInstanceOf(HashQueueFull);
    await expect(engine.verify('correct horse', hash)).rejects.toThrow('closed');
  });
});
