#!/usr/bin/env node
// node scripts/fuzz.mjs [--comparisons 100000] [--seed N]
//
// Compares random passwords with random hashes in pairs, and checks each verdict against @node-rs/bcrypt and bcryptjs.
// Prints the seed, so that a run can be repeated. Ends with exit code 1 at the first wrong verdict.
import { createHash, randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import native from '@node-rs/bcrypt';
import bcryptjs from 'bcryptjs';
import bcryptPair from '../src/index.js';

const { values } = parseArgs({
  options: { comparisons: { type: 'string', default: '100000' }, seed: { type: 'string' } },
});
const comparisons = wholeNumber('comparisons', values.comparisons);
const seed = values.seed === undefined ? randomInt(2 ** 32) : wholeNumber('seed', values.seed);
console.log(`seed ${seed}`);

const random = generator(seed);
const PREFIXES = ['$2a$', '$2b$', '$2y$'];
const ALPHABETS = ['abc123', 'aü€😀', '\u0001\u007f\u0080ÿ', 'пароль密码', ' ~!@#$%^&*()'];
const COST = 4;

let done = 0;
while (done < comparisons) {
  const pair = [oneComparison(), oneComparison()];
  const verdicts = bcryptPair.comparePair(pair[0], pair[1]);
  if (verdicts === null) fail('WebAssembly cannot run here');
  pair.forEach(({ password, hash }, lane) => {
    const expected = [native.compareSync(password, hash), bcryptjs.compareSync(password, hash)];
    if (expected.some((verdict) => verdict !== verdicts[lane])) {
      fail(JSON.stringify({ lane, password, hash, pair: verdicts[lane], native: expected[0], bcryptjs: expected[1] }));
    }
  });
  done += 2;
}
console.log(`${done} comparisons, every verdict agrees with both libraries`);

/** A password of 0 to 72 bytes with a hash: half of the time its own, otherwise the hash of a similar password. */
function oneComparison() {
  const password = text(random(73));
  const hashed = random(2) ? password : changed(password);
  const made = random(2) ? native.hashSync(hashed, { cost: COST }) : bcryptjs.hashSync(hashed, COST);
  const hash = PREFIXES[random(3)] + made.slice(4);
  return { password, hash: random(8) ? hash : misspelt(hash) };
}

function text(bytes) {
  const alphabet = [...ALPHABETS[random(ALPHABETS.length)]];
  let made = '';
  for (;;) {
    const next = made + alphabet[random(alphabet.length)];
    if (Buffer.byteLength(next) > bytes) return made;
    made = next;
  }
}

/** Inserts, removes or replaces one character, or changes nothing. The result has at most 72 bytes. */
function changed(password) {
  const characters = [...password];
  const at = random(characters.length + 1);
  characters.splice(at, random(2), ...(random(2) ? ['x'] : []));
  const result = characters.join('');
  return Buffer.byteLength(result) > 72 ? result.slice(0, 10) : result;
}

/** Replaces one character of the salt or the digest. The new character may decode to the same bits. */
function misspelt(hash) {
  const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const at = random(2) ? [28, 59][random(2)] : 7 + random(53);
  return hash.slice(0, at) + alphabet[random(64)] + hash.slice(at + 1);
}

/** Makes numbers below a limit from the SHA-256 of the seed and a counter. They are the same on every machine. */
function generator(start) {
  let counter = 0;
  return (limit) => createHash('sha256').update(`${start} ${counter++}`).digest().readUInt32BE(0) % limit;
}

function wholeNumber(name, value) {
  if (!/^\d{1,10}$/.test(value)) fail(`--${name} takes a whole number`);
  return Number(value);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
