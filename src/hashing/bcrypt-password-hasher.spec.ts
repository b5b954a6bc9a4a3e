import { AsyncLocalStorage } from 'node:async_hooks';
import { type HashClient, HashQueueFull, PasswordHasher, PasswordNotHashable } from './password-hasher';
import { BcryptEngine, Comparison, openEngine } from './engine/bcrypt-engine';
import { costOf } from './bcrypt-format';
import { BcryptPasswordHasher, PasswordHasherOptions } from './bcrypt-password-hasher';

const COST = 4;

const from = (ip: string, signal?: AbortSignal): HashClient => ({ ip, signal });

/** A real engine that writes down what it was asked: one line per bcrypt, by cost, so that work can be compared. */
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
      queueMaxWaitMs: 2000,
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

  it('is the port: the class is the injection token', () => {
    expect(hasher).toBeInstanceOf(PasswordHasher);
  });

  it('hashes with the configured cost and a new salt, and matches only the password it hashed', async () => {
    const other = await hasher.hash('correct horse', from('ip'));
    expect(hash).toMatch(/^\$2b\$04\$/);
    expect(other).not.toBe(hash);
    await expect(hasher.matches('correct horse', hash, from('ip'))).resolves.toBe(true);
    await expect(hasher.matches('correct horse ', hash, from('ip'))).resolves.toBe(false);
  });

  it('T119 72 bytes are set and matched, 73 are refused before any work', async () => {
    const longest = `${'a'.repeat(70)}é`;
    await expect(hasher.matches(longest, await hasher.hash(longest, from('ip')), from('ip'))).resolves.toBe(true);
    engine.work.length = 0;
    await expect(hasher.hash(`${longest}b`, from('ip'))).rejects.toBeInstanceOf(PasswordNotHashable);
    expect(engine.work).toEqual([]);
  });

  it('T119 of passwords equal in the first 72 bytes only the one that was set ever matches', async () => {
    const stored = await hasher.hash('a'.repeat(72), from('ip'));
    for (const longer of ['a'.repeat(73), `${'a'.repeat(72)}b`, 'a'.repeat(10_000)]) {
      await expect(hasher.matches(longer, stored, from('ip'))).resolves.toBe(false);
    }
    // Set elsewhere by a library that cuts: the long form that its owner knows is refused all the same.
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

  it('T120 two lone surrogates do not become one password', async () => {
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

  it('an unhashable password is false even where the empty one is right', async () => {
    const empty = await hasher.hash('', from('ip'));
    await expect(hasher.matches('a'.repeat(73), empty, from('ip'))).resolves.toBe(false);
  });

  it('accepts a stored hash of another cost, and asks to renew it only where it is the lower one', async () => {
    const older = await engine.hash('correct horse', 5);
    await expect(hasher.matches('correct horse', older, from('ip'))).resolves.toBe(true);
    expect(hasher.needsRenewal(older)).toBe(false);
    expect(hasherWith({ cost: 6 }).needsRenewal(older)).toBe(true);
    expect(hasher.needsRenewal(hash)).toBe(false);
    expect(hasher.needsRenewal('plain text')).toBe(true);
  });

  describe('where the time of a comparison must not tell the cost of the stored hash (W10)', () => {
    /** Rounds of bcrypt, which are what a comparison costs: 2 to the power of the cost for each of its passwords. */
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

    it('two that share a thread take the rounds of both', async () => {
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

    it('the missing rounds are one job of the queue, so nobody else comes in between', async () => {
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

    it('elsewhere a comparison costs what the stored hash costs', async () => {
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

  it('reports a stored value that is no hash, without the value; an unknown user is nothing to report', async () => {
    await hasher.matches('correct horse', 'plain text', from('ip'));
    await hasher.matches('correct horse', null, from('ip'));
    expect(reports).toEqual(['a stored password is not a bcrypt hash and was refused']);
  });

  it('runs no more at a time than it was told', async () => {
    expect(hasher.stats()).toMatchObject({ engine: 'native', concurrency: 2 });
    const single = hasherWith({ concurrency: 1 });
    const answers = Array.from({ length: 5 }, () => single.matches('wrong', hash, from('ip')));
    expect(single.stats()).toMatchObject({ running: 1, waiting: 4 });
    await expect(Promise.all(answers)).resolves.toEqual(Array(5).fill(false));
  });

  it('compares two at once where two wait, and answers each with its own', async () => {
    const single = hasherWith({ concurrency: 1 });
    const answers = ['correct horse', 'wrong', 'correct horse', 'correct horse', 'wrong'].map((password, n) =>
      single.matches(password, hash, from(`ip ${n}`)),
    );
    await expect(Promise.all(answers)).resolves.toEqual([true, false, true, true, false]);
    expect(engine.work).toEqual(['verify 4', 'verify 4 + 4', 'verify 4 + 4']);
  });

  it('W21 in a pair as well an unknown user costs one comparison of the configured cost, and is no match', async () => {
    const single = hasherWith({ concurrency: 1 });
    const first = single.matches('wrong', hash, from('first ip'));
    const unknown = single.matches('correct horse', null, from('ip'));
    const unhashable = single.matches('a'.repeat(73), hash, from('other ip'));
    await expect(Promise.all([first, unknown, unhashable])).resolves.toEqual([false, false, false]);
    expect(engine.work).toEqual(['verify 4', 'verify 4 + 4']);
  });

  it('compares hashes of different costs, and makes new ones, one at a time by the library', async () => {
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

  it('gives the addresses of one IPv6 /64 one turn between them, as the limits do (T048)', async () => {
    const single = hasherWith({ concurrency: 1 });
    const running = single.hash('running', from('203.0.113.1'));
    const waiting = [
      ...['::1', '::2', '::3'].map((end) => single.hash(`greedy ${end}`, from(`2001:db8:1:2${end}`))),
      single.hash('stranger', from('2001:db8:1:3::1')),
    ];
    await Promise.all([running, ...waiting]);
    expect(engine.passwords).toEqual(['running', 'greedy ::1', 'stranger', 'greedy ::2', 'greedy ::3']);
  });

  it('T273 beyond the queue it refuses at once with the time to come back', async () => {
    const small = hasherWith({ concurrency: 1, queueLimit: 1 });
    const accepted = [small.matches('correct horse', hash, from('ip')), small.hash('another', from('ip'))];
    const refusal = await small.matches('correct horse', hash, from('ip')).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(HashQueueFull);
    expect(small.stats()).toMatchObject({ running: 1, waiting: 1, refused: 1 });
    await Promise.all(accepted);
  });

  it('before anything was measured it already expects more of a higher cost', async () => {
    const costly = hasherWith({ cost: 14, concurrency: 1, queueMaxWaitMs: 500 });
    const running = costly.matches('correct horse', hash, from('ip'));
    await expect(costly.matches('correct horse', hash, from('ip'))).rejects.toBeInstanceOf(HashQueueFull);
    await running;
  });

  it('an abandoned request leaves the queue unhashed', async () => {
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

  it('each request has a span for its own wait and then one for its bcrypt, whoever it shares a thread with', async () => {
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
    // The second waits for as long as the first works.
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

  it('with bcryptjs it does the same and reports that it is the slower one', async () => {
    const fallback = hasherWith({ engine: openEngine('bcryptjs') });
    await expect(fallback.matches('correct horse', hash, from('ip'))).resolves.toBe(true);
    await expect(hasher.matches('another', await fallback.hash('another', from('ip')), from('ip'))).resolves.toBe(true);
    expect(fallback.stats().engine).toBe('bcryptjs');
    expect(reports).toHaveLength(1);
    await fallback.close();
  });

  it('opens the native engine by itself where it loads', async () => {
    const own = new BcryptPasswordHasher({ cost: 4, concurrency: 1, queueLimit: 1, queueMaxWaitMs: 1, now: () => 0 });
    expect(own.stats().engine).toBe('native');
    await own.close();
  });

  it('shut down it lets what runs end, refuses the rest and ends its threads', async () => {
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
