import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import * as bcryptjs from 'bcryptjs';
import * as native from '@node-rs/bcrypt';
import { VECTORS } from '../../../packages/bcrypt-pair/test/vectors';
import { dummyHash } from '../bcrypt-format';
import { BcryptEngine, Comparison, openEngine } from './bcrypt-engine';

/**
 * The threads of this process that have a lower priority: a nice value above 0. It is field 19 of the stat of a thread
 * (proc(5)), the 17th after the command's name.
 */
const niceThreads = (): string[] =>
  readdirSync('/proc/self/task').filter((thread) => {
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) > 0;
    } catch {
      // The thread has ended.
      return false;
    }
  });

const of = ({ password, hash }: Comparison): [string, string] => [password, hash];

/** Cuts the text to this many bytes of UTF-8 without splitting a character, and fills it up with dots. */
function cutTo(bytes: number, text: string): string {
  let cut = '';
  for (const character of text) if (Buffer.byteLength(cut + character) <= bytes) cut += character;
  return cut.padEnd(cut.length + bytes - Buffer.byteLength(cut), '.');
}

/** The next character of bcrypt's base64. */
function after(character: string): string {
  const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return alphabet.charAt(alphabet.indexOf(character) ^ 1);
}

const missing = () => {
  throw new Error('Cannot find native binding');
};

describe.each(['native', 'bcryptjs'] as const)('the %s engine', (name) => {
  let engine: BcryptEngine;

  beforeAll(() => {
    engine = openEngine(name);
  });

  afterAll(() => engine.close());

  it.each(VECTORS)('agrees with the published vector of %j', async (password, hash) => {
    await expect(engine.verify(password, hash)).resolves.toBe(true);
    await expect(engine.verify(`${password}x`, hash)).resolves.toBe(false);
  });

  it.each(VECTORS)('agrees with the published vector of %j on either side of a pair', async (password, hash) => {
    const right = { password, hash };
    const wrong = { password: `${password}x`, hash };
    await expect(engine.verifyPair(right, wrong)).resolves.toEqual([true, false]);
    await expect(engine.verifyPair(wrong, right)).resolves.toEqual([false, true]);
  });

  it('verifies a pair with the same results as one by one, for every length, alphabet and prefix', async () => {
    const cases = Array.from({ length: 73 }, (_, bytes) => {
      const letters = bytes % 2 ? 'aü€😀' : 'pass word';
      const password = cutTo(bytes, letters.repeat(bytes));
      const made = bytes % 3 ? native.hashSync(password, { cost: 4 }) : bcryptjs.hashSync(password, 4);
      const hash = made.replace('$2b$', ['$2a$', '$2b$', '$2y$'][bytes % 3] as string);
      return { password: bytes % 5 ? password : `${password.slice(1)}!`, hash };
    });
    for (const [n, first] of cases.entries()) {
      const second = cases[(n * 7 + 3) % cases.length] as Comparison;
      const expected = [first, second].map(({ password, hash }) => bcryptjs.compareSync(password, hash));
      await expect(engine.verifyPair(first, second)).resolves.toEqual(expected);
      expect(await Promise.all([engine.verify(...of(first)), engine.verify(...of(second))])).toEqual(expected);
    }
  });

  it('refuses another spelling that decodes to the right hash, alone and in a pair', async () => {
    const [password, hash] = VECTORS[2] as [string, string];
    // The last characters of the salt and of the digest have four and two unused bits.
    for (const at of [28, 59]) {
      const other = { password, hash: `${hash.slice(0, at)}${after(hash.charAt(at))}${hash.slice(at + 1)}` };
      await expect(engine.verify(...of(other))).resolves.toBe(false);
      await expect(engine.verifyPair(other, { password, hash })).resolves.toEqual([false, true]);
    }
  });

  it.each([
    ['another cost', VECTORS[5]![1]],
    ['no hash at all', 'plain text'],
  ])('refuses a pair with %s on either side, before any work', async (_what, hash) => {
    const [right, other] = [
      { password: 'abc', hash: VECTORS[2]![1] },
      { password: 'U*U', hash },
    ];
    await expect(engine.verifyPair(right, other)).rejects.toThrow('a pair needs two bcrypt hashes of one cost');
    await expect(engine.verifyPair(other, right)).rejects.toThrow('a pair needs two bcrypt hashes of one cost');
  });

  it('the result of a comparison does not depend on the other comparison of its pair', async () => {
    const [password, hash] = VECTORS[3] as [string, string];
    const pairs = VECTORS.slice(0, 5).flatMap((neighbour) =>
      [neighbour[0], `not ${neighbour[0]}`].map((text) => ({ password: text, hash: neighbour[1] })),
    );
    for (const neighbour of pairs) {
      expect((await engine.verifyPair({ password, hash }, neighbour))[0]).toBe(true);
      expect((await engine.verifyPair(neighbour, { password: `${password}!`, hash }))[1]).toBe(false);
    }
  });

  it.each(['$2a$', '$2b$', '$2y$'])('verifies the prefix %s', async (prefix) => {
    const [password, hash] = VECTORS[2] as [string, string];
    await expect(engine.verify(password, hash.replace('$2a$', prefix))).resolves.toBe(true);
  });

  it('makes $2b$ hashes of the requested cost with a new salt each time', async () => {
    const hashes = await Promise.all([engine.hash('same', 5), engine.hash('same', 5)]);
    for (const hash of hashes) expect(hash).toMatch(/^\$2b\$05\$[./A-Za-z0-9]{53}$/);
    expect(hashes[0].slice(0, 29)).not.toBe(hashes[1].slice(0, 29));
  });

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('runs its threads at a lower priority, and keeps the priority of the event loop', async () => {
    const before = new Set(niceThreads());
    const second = openEngine(name);
    await second.hash('any', 4);
    // A thread of an earlier test may end meanwhile.
    expect(niceThreads().filter((thread) => !before.has(thread))).toHaveLength(1);
    expect(getPriority()).toBe(0);
    await second.close();
  });

  it('makes hashes that both libraries verify', async () => {
    for (const password of ['', 'correct horse', 'pässwörd 密码 😀', 'a'.repeat(72)]) {
      const hash = await engine.hash(password, 4);
      await expect(native.verify(password, hash)).resolves.toBe(true);
      await expect(bcryptjs.compare(password, hash)).resolves.toBe(true);
    }
  });

  it('verifies the hashes that both libraries make', async () => {
    for (const password of ['', 'correct horse', 'pässwörd 密码 😀', 'a'.repeat(72)]) {
      for (const hash of [await native.hash(password, { cost: 4 }), await bcryptjs.hash(password, 4)]) {
        await expect(engine.verify(password, hash)).resolves.toBe(true);
        await expect(engine.verify(`${password.slice(1)}!`, hash)).resolves.toBe(false);
      }
    }
  });

  it('accepts the dummy hash, and no password matches it', async () => {
    await expect(engine.verify('', dummyHash(4))).resolves.toBe(false);
    await expect(engine.verify('anything', dummyHash(4))).resolves.toBe(false);
    const dummy = { password: '', hash: dummyHash(4) };
    await expect(engine.verifyPair(dummy, dummy)).resolves.toEqual([false, false]);
  });

  it('does not block the event loop while it hashes (T256)', async () => {
    let turns = 0;
    let answered = false;
    const turn = () => {
      turns += 1;
      if (!answered) setImmediate(turn);
    };
    setImmediate(turn);
    await engine.hash('correct horse', 10).finally(() => (answered = true));
    // On the main thread, bcryptjs allows about one iteration of the loop in 100 ms, and a blocking call allows none.
    expect(turns).toBeGreaterThan(50);
  });

  it('rejects when the library refuses its arguments, and keeps working', async () => {
    await expect(engine.hash(null as unknown as string, 4)).rejects.toThrow();
    await expect(engine.verify('a', await engine.hash('a', 4))).resolves.toBe(true);
  });
});

describe('openEngine', () => {
  it('auto opens the native library when its binary loads', () => {
    expect(openEngine('auto').name).toBe('native');
  });

  it('auto falls back to a working bcryptjs when the native binary does not load', async () => {
    const engine = openEngine('auto', missing);
    expect(engine.name).toBe('bcryptjs');
    await expect(engine.verify(...(VECTORS[5] as [string, string]))).resolves.toBe(true);
    await engine.close();
  });

  it('native throws an error that names the package when its binary does not load', () => {
    expect(() => openEngine('native', missing)).toThrow('@node-rs/bcrypt does not load');
  });
});
