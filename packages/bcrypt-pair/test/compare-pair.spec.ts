import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import * as native from '@node-rs/bcrypt';
import * as bcryptjs from 'bcryptjs';
import { comparePair, type Comparison } from '../src/index';
import { VECTORS } from './vectors';

const run = promisify(execFile);
const PACKAGE = resolve(__dirname, '..');

/** A text of exactly this many bytes of UTF-8, padded with dots where a character would be cut in two. */
function cutTo(bytes: number, text: string): string {
  let cut = '';
  for (const character of text) if (Buffer.byteLength(cut + character) <= bytes) cut += character;
  return cut.padEnd(cut.length + bytes - Buffer.byteLength(cut), '.');
}

/** The other character of bcrypt's base64 that differs in the lowest bit only. */
function neighbourOf(character: string): string {
  const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return alphabet.charAt(alphabet.indexOf(character) ^ 1);
}

describe('comparePair', () => {
  it.each(VECTORS)('agrees with the published vector of %j on either side', (password, hash) => {
    const right = { password, hash };
    const wrong = { password: `${password}x`, hash };
    expect(comparePair(right, wrong)).toEqual([true, false]);
    expect(comparePair(wrong, right)).toEqual([false, true]);
  });

  it('agrees with both libraries for every length up to 72 bytes, characters of 1 to 4 bytes, and every prefix', () => {
    const cases = Array.from({ length: 73 }, (_, bytes): Comparison => {
      const letters = bytes % 2 ? 'aü€😀' : 'pass word';
      const password = cutTo(bytes, letters.repeat(bytes));
      const made = bytes % 3 ? native.hashSync(password, { cost: 4 }) : bcryptjs.hashSync(password, 4);
      const hash = made.replace('$2b$', ['$2a$', '$2b$', '$2y$'][bytes % 3]!);
      return { password: bytes % 5 ? password : `${password.slice(1)}!`, hash };
    });
    for (const [n, first] of cases.entries()) {
      const second = cases[(n * 7 + 3) % cases.length]!;
      const expected = [first, second].map(({ password, hash }) => bcryptjs.compareSync(password, hash));
      expect(comparePair(first, second)).toEqual(expected);
      expect([first, second].map(({ password, hash }) => native.compareSync(password, hash))).toEqual(expected);
    }
  });

  it('gives a verdict that does not depend on the other comparison', () => {
    const [password, hash] = VECTORS[3]!;
    for (const [text, other] of VECTORS.slice(0, 5)) {
      for (const neighbour of [text, `not ${text}`].map((guess) => ({ password: guess, hash: other }))) {
        expect(comparePair({ password, hash }, neighbour)?.[0]).toBe(true);
        expect(comparePair(neighbour, { password: `${password}!`, hash })?.[1]).toBe(false);
      }
    }
  });

  it('refuses a hash whose text differs but decodes to the same bytes, as both libraries do', () => {
    const [password, hash] = VECTORS[2]!;
    // The last character of the salt has four unused bits, the last one of the digest has two.
    for (const at of [28, 59]) {
      const misspelt = { password, hash: `${hash.slice(0, at)}${neighbourOf(hash.charAt(at))}${hash.slice(at + 1)}` };
      expect(bcryptjs.compareSync(misspelt.password, misspelt.hash)).toBe(false);
      expect(comparePair(misspelt, { password, hash })).toEqual([false, true]);
    }
  });

  it.each([
    ['a hash of another cost', VECTORS[5]![1]],
    ['a text that is no hash', 'plain text'],
    ['a cost that bcrypt does not know', VECTORS[5]![1].replace('$05$', '$32$')],
  ])('throws for %s on either side', (_what, hash) => {
    const known = { password: 'abc', hash: VECTORS[2]![1] };
    const other = { password: 'U*U', hash };
    expect(() => comparePair(known, other)).toThrow(new TypeError('a pair needs two bcrypt hashes of one cost'));
    expect(() => comparePair(other, known)).toThrow(TypeError);
  });

  const script = `
    const { comparePair } = require(${JSON.stringify(PACKAGE)});
    const one = { password: 'abc', hash: ${JSON.stringify(VECTORS[2]![1])} };
    console.log(JSON.stringify(comparePair(one, one)));
  `;

  it('returns null where Node has no WebAssembly', async () => {
    const { stdout } = await run(process.execPath, ['--jitless', '-e', script]);
    expect(JSON.parse(stdout)).toBeNull();
  });

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('returns null where the address space is too small for the memory of WebAssembly', async () => {
    // Eight gigabytes of addresses are enough for Node, and too few for the memory and its guard pages.
    const { stdout } = await run('sh', ['-c', 'ulimit -v 8000000; exec "$0" -e "$1"', process.execPath, script]);
    expect(JSON.parse(stdout)).toBeNull();
  });
});

describe('the differential fuzz command', () => {
  it('agrees with both libraries over 400 random comparisons and prints the seed', async () => {
    const { stdout } = await run(process.execPath, [`${PACKAGE}/scripts/fuzz.mjs`, '--comparisons', '400']);
    expect(stdout).toMatch(/^seed \d+\n400 comparisons, every verdict agrees with both libraries\n$/);
  });
});
