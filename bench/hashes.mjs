#!/usr/bin/env node
// node bench/hashes.mjs: password comparisons per second of each bcrypt engine of the service, one thread per core.
import { availableParallelism } from 'node:os';
import { createRequire } from 'node:module';
import { openEngine } from '../dist/src/hashing/engine/bcrypt-engine.js';

const COST = 10;
const ROUNDS = 7;
const SECONDS = 3;

const bcrypt = createRequire(import.meta.url)('@node-rs/bcrypt');
const comparisons = ['correct horse', 'battery staple'].map((password) => ({
  password,
  hash: bcrypt.hashSync(password, { cost: COST }),
}));
const [{ password, hash }] = comparisons;
const native = openEngine('native');
const bcryptjs = openEngine('bcryptjs');
const alone = (engine) => async () => [await engine.verify(password, hash)];
const ways = [
  { name: '@node-rs/bcrypt', compare: alone(native), rates: [] },
  { name: 'bcryptjs', compare: alone(bcryptjs), rates: [] },
  { name: 'a pair', compare: () => native.verifyPair(...comparisons), rates: [] },
];

async function rateOf({ compare }) {
  const begun = performance.now();
  let done = 0;
  const thread = async () => {
    while (performance.now() < begun + SECONDS * 1000) {
      const right = await compare();
      if (right.includes(false)) throw new Error('the engine refused a right password: its result is wrong');
      done += right.length;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, thread));
  return (done * 1000) / (performance.now() - begun);
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

for (const way of ways) await rateOf(way);
for (let round = 0; round < ROUNDS; round++) {
  for (const way of ways) way.rates.push(await rateOf(way));
}
for (const { name, rates } of ways) {
  const ratio = median(rates.map((rate, round) => rate / ways[0].rates[round]));
  console.log(`${name.padEnd(16)} ${median(rates).toFixed(1).padStart(6)}/s  ${ratio.toFixed(2)} of ${ways[0].name}`);
}
await Promise.all([native.close(), bcryptjs.close()]);
