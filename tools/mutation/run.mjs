#!/usr/bin/env node
// npm run mutation -- [--module mfa] [--sample 20] [--seed 1] [--files 12] [--tests REGEX] [--workers 1] [--list]
//
// Changes the code of a module in one place at a time (a mutant) and runs the tests that reach the place. A mutant that no
// test notices survives: a test is missing there, or the change changes nothing. docs/security/mutation.md has the figures.
//
//   --module   one of the names that an unknown name prints; without it, all modules
//   --sample   so many mutants per module, chosen by --seed; without it, all mutants (hours)
//   --files    so many test files are tried on a mutant before it counts as survived (the most likely first)
//   --tests    only test files whose path matches, so that a module does not wait for the coverage of all tests
//   --workers  so many test files run at the same time
//   --list     print the survivors that are known, run nothing
//
// What was found is kept in node_modules/.cache/mutation. An interrupted run goes on where it stopped, and a changed test file
// is tried again on the mutants that it did not kill.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { resultKey, sampleOf, wilson } from './figures.mjs';
import { installTools } from '../install.mjs';
import { runTests } from './test-runs.mjs';

installTools();
const { MODULES, testFiles, writeCopy } = await import('./mutants.mjs');

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const FOLDER = join(realpathSync(tmpdir()), `mutation-${createHash('sha256').update(ROOT).digest('hex').slice(0, 8)}`);
const CACHE = join(ROOT, 'node_modules/.cache/mutation');
/** Loading the service takes about this long, whatever a test file does then. */
const LOAD_MS = 6_000;
const BATCH = 25;
/** Words of paths that say nothing about what is tested. */
const COMMON_WORDS = new Set([
  'src',
  'test',
  'spec',
  'http',
  'service',
  'controller',
  'dto',
  'module',
  'persistence',
  'unit',
]);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130));

const { modules, sample, seed, fileLimit, testPattern, workers, listOnly } = readArguments();
mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
if (statSync(FOLDER).uid !== process.getuid?.()) throw new Error(`${FOLDER} belongs to somebody else`);
mkdirSync(CACHE, { recursive: true });
const copy = await writeCopy(ROOT, FOLDER);
const tests = testFiles(FOLDER)
  .filter(({ file }) => testPattern.test(file))
  .map((test) => ({ ...test, hash: copy.hashOf(test.file) }));
const coverage = listOnly ? readCache('coverage') : await measureCoverage();
const results = readCache('results');
const chosen = modules.flatMap((name) => {
  const own = copy.mutants.filter(({ module, ignored }) => module === name && !ignored);
  return sampleOf(own, sample ?? own.length, seed);
});
const reached = reachedBy();
if (!listOnly) await tryAll();
report();

function readArguments() {
  const { values } = parseArgs({
    options: {
      module: { type: 'string', multiple: true },
      sample: { type: 'string' },
      seed: { type: 'string', default: '1' },
      files: { type: 'string', default: '12' },
      tests: { type: 'string', default: '' },
      workers: { type: 'string', default: '1' },
      list: { type: 'boolean', default: false },
    },
  });
  const unknown = values.module?.find((name) => !(name in MODULES));
  const numbers = [values.sample ?? '1', values.seed, values.files, values.workers];
  if (unknown !== undefined || !numbers.every((text) => /^\d+$/.test(text))) {
    console.error(
      `usage: npm run mutation -- [--module NAME] [--sample N] [--seed N] [--files N] [--tests REGEX] [--workers N] [--list]`,
    );
    console.error(`modules: ${Object.keys(MODULES).join(', ')}`);
    process.exit(1);
  }
  return {
    modules: values.module ?? Object.keys(MODULES),
    sample: values.sample === undefined ? undefined : Number(values.sample),
    seed: Number(values.seed),
    fileLimit: Number(values.files),
    testPattern: new RegExp(values.tests),
    workers: Math.max(1, Number(values.workers)),
    listOnly: values.list,
  };
}

/** Which test of which file reaches which mutant. A test file that fails in the copy is left out. */
async function measureCoverage() {
  const known = readCache('coverage');
  const missing = tests.filter(({ file, hash }) => known[file]?.hash !== hash);
  const groups = [...new Set(missing.map(({ project }) => project))].flatMap((project) => {
    const files = missing.filter((test) => test.project === project);
    const starts = Array.from({ length: Math.ceil(files.length / 6) }, (_, index) => 6 * index);
    return starts.map((start) => ({ project, start, of: files.length, group: files.slice(start, start + 6) }));
  });
  await withWorkers(async (worker) => {
    for (let next = groups.shift(); next !== undefined; next = groups.shift()) {
      const { project, start, of, group } = next;
      console.log(`coverage of ${project} ${start + 1} to ${start + group.length} of ${of}`);
      const paths = group.map(({ file }) => file);
      const keep = ({ file: path, ...found }) => {
        const { file, hash } = group.find((test) => join(FOLDER, test.file) === path);
        known[file] = { ...found, hash };
        writeCache('coverage', known);
      };
      await runTests(FOLDER, { project, files: paths, plan: { mode: 'coverage' }, worker }, keep);
      for (const { file, hash } of group) {
        if (known[file]?.hash !== hash) known[file] = { failed: true, hash };
        if (known[file].failed) console.log(`  left out, because it fails without a mutant: ${file}`);
      }
      writeCache('coverage', known);
    }
  });
  return known;
}

async function withWorkers(run) {
  await Promise.all(Array.from({ length: workers }, (_, worker) => run(worker)));
}

/**
 * The files that reach each mutant, the most likely first: those with a word of its path, and those that killed its
 * neighbours.
 */
function reachedBy() {
  const usable = tests.filter(({ file }) => coverage[file]?.failed === false);
  const found = new Map();
  const killers = killersOfSources();
  for (const mutant of chosen) {
    const atLoad = usable.some(({ file }) => loadHits(file).has(mutant.id));
    const files = usable
      .filter(({ file }) => coverage[file].hits[mutant.id] || (atLoad && loadHits(file).has(mutant.id)))
      .map((test) => ({ ...test, likelihood: likelihood(mutant, test.file, killers) }))
      .sort((a, b) => b.likelihood - a.likelihood);
    found.set(mutant.id, { atLoad, all: files.length, files: files.slice(0, fileLimit) });
  }
  return found;
}

function loadHits(file) {
  const entry = coverage[file];
  entry.loadSet ??= new Set(entry.load);
  return entry.loadSet;
}

function killersOfSources() {
  const found = new Set();
  for (const [key, { killer }] of Object.entries(results)) {
    if (killer !== undefined) found.add(`${key.split(' ')[0]} ${killer.file}`);
  }
  return found;
}

function likelihood({ file: source, id }, file, killers) {
  const own = wordsOf(source);
  const common = [...wordsOf(file)].filter((word) => own.has(word)).length;
  const { hits, milliseconds } = coverage[file];
  const share = hits[id] ? hits[id].tests.length / milliseconds.length : 0;
  const beside = file.replace(/\.spec\.ts$/, '') === source.replace(/\.ts$/, '') ? 5 : 0;
  const neighbour = killers.has(`${source} ${file}`) ? 4 : 0;
  return beside + neighbour + 3 * common + (file.startsWith('src/') ? 1 : 0) + share;
}

function wordsOf(path) {
  const words = path.toLowerCase().split(/[^a-z]+/);
  return new Set(
    words.filter((word) => word.length > 2 && !COMMON_WORDS.has(word)).map((word) => word.replace(/s$/, '')),
  );
}

async function tryAll() {
  const busy = new Set();
  await withWorkers(async (worker) => {
    for (;;) {
      const work = nextWork(busy);
      if (work === undefined) return;
      const mutants = work.mutants.slice(0, work.alone ? 1 : BATCH);
      for (const mutant of mutants) busy.add(mutant);
      await (work.alone ? tryAlone : replay)({ ...work, mutants, worker });
      for (const mutant of mutants) busy.delete(mutant);
    }
  });
}

/** The test file that is likely to decide most mutants for its time. Another worker has those of `busy`. */
function nextWork(busy) {
  const byFile = new Map();
  for (const mutant of chosen) {
    if (busy.has(mutant)) continue;
    const { atLoad, files } = reached.get(mutant.id);
    for (const [place, test] of openFiles(mutant, files).entries()) {
      const alone = atLoad || stateOf(mutant).alone === true;
      if (alone && place > 0) break;
      const key = alone ? `${mutant.id} ${test.file}` : test.file;
      const work = byFile.get(key) ?? { alone, test, mutants: [], worth: 0, cost: LOAD_MS };
      work.mutants.push(mutant);
      work.worth += 1 / (1 + place) ** 2;
      work.cost += alone ? 0 : Math.min(5_000, timeOf(test.file, mutant.id) / 2);
      byFile.set(key, work);
    }
  }
  return [...byFile.values()].sort((a, b) => b.worth / b.cost - a.worth / a.cost)[0];
}

/** A mutant is open at a file that did not run on it yet, unless a test that still stands as it was has killed it. */
function openFiles(mutant, files) {
  if (standingKiller(mutant) !== undefined) return [];
  const { survived } = stateOf(mutant);
  return files.filter(({ file, hash }) => survived[file] !== hash);
}

/** The test that has killed the mutant, unless its file has changed or is gone. */
function standingKiller(mutant) {
  const { killer } = stateOf(mutant);
  return tests.some(({ file, hash }) => file === killer?.file && hash === killer.hash) ? killer : undefined;
}

function stateOf(mutant) {
  return (results[resultKey(mutant)] ??= { survived: {} });
}

function timeOf(file, id) {
  return positionsOf(file, id).reduce((sum, position) => sum + (coverage[file].milliseconds[position] ?? 0), 0);
}

function positionsOf(file, id) {
  const { hits, milliseconds, skipped } = coverage[file];
  const own = hits[id] && !hits[id].hooks ? hits[id].tests : milliseconds.map((_, position) => position);
  return own.filter((position) => !skipped.includes(position));
}

function planned(file, mutants) {
  return mutants.map(({ id }) => ({
    id,
    tests: positionsOf(file, id),
    hitLimit: 1_000 + 100 * (coverage[file].hits[id]?.count ?? 1),
  }));
}

async function replay({ test, mutants: batch, worker }) {
  const plan = { mode: 'replay', mutants: planned(test.file, batch), milliseconds: coverage[test.file].milliseconds };
  const began = performance.now();
  const counts = {};
  const undecided = new Map(batch.map((mutant) => [mutant.id, mutant]));
  const conclude = (id, verdict, by) => {
    counts[verdict] = (counts[verdict] ?? 0) + 1;
    note(undecided.get(id), test, verdict, by);
    undecided.delete(id);
  };
  let last;
  const { hung } = await runTests(FOLDER, { project: test.project, files: [test.file], plan, worker }, (line) => {
    if (line.started === undefined) conclude(line.id, line.verdict, line.by);
    else last = line.started;
  });
  // The mutants behind one that hangs have their turn in the next run.
  if (hung && undecided.has(last)) conclude(last, 'timeout');
  else for (const id of undecided.keys()) conclude(id, 'doubtful');
  tell(test, began, counts);
}

async function tryAlone({ test, mutants: [mutant], worker }) {
  const plan = { mode: 'alone', mutants: planned(test.file, [mutant]), milliseconds: coverage[test.file].milliseconds };
  const began = performance.now();
  const run = async (given) => {
    let line;
    const { hung, code } = await runTests(
      FOLDER,
      { project: test.project, files: [test.file], plan: given, worker },
      (found) => {
        line = found;
      },
    );
    if (code === null && !hung) throw new Error(`jest was ended by a signal: ${test.file}`);
    const verdict = hung ? 'timeout' : (line?.verdict ?? (code === 0 ? 'survived' : 'killed'));
    return { verdict, by: line?.by ?? 'the file does not load' };
  };
  let { verdict, by } = await run(plan);
  // A test that fails without the mutant as well proves nothing.
  if (verdict !== 'survived') {
    const control = await run({ ...plan, mutants: [{ ...plan.mutants[0], id: 'none' }] });
    if (control.verdict !== 'survived') ({ verdict, by } = { verdict: 'survived', by: undefined });
  }
  note(mutant, test, verdict, by);
  tell(test, began, { [verdict]: 1 }, 'alone');
}

function note(mutant, { file, hash }, verdict, by) {
  const state = stateOf(mutant);
  if (verdict === 'survived') state.survived[file] = hash;
  else if (verdict === 'doubtful') state.alone = true;
  else state.killer = { file, hash, by, verdict };
  writeCache('results', results);
}

function tell({ file }, began, counts, how = '') {
  const parts = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`);
  console.log(`${((performance.now() - began) / 1000).toFixed(1)} s ${file} ${how} ${parts.join(', ')}`);
}

function report() {
  const rows = modules.map((name) => rowOf(name, (mutant) => mutant.module === name));
  if (modules.length > 1) rows.push(rowOf('all', () => true));
  console.log(`\nseed ${seed}, at most ${fileLimit} test files per mutant\n`);
  console.log(
    '| module | mutants | ignored | sampled | killed | timed out | survived | not reached | open | score | 95 % interval |',
  );
  console.log('| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --- |');
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
  console.log('');
  for (const mutant of chosen) {
    const outcome = outcomeOf(mutant);
    if (outcome === 'killed' || outcome === 'timeout') continue;
    const { files, all } = reached.get(mutant.id);
    console.log(`${outcome}: ${mutant.file}:${mutant.line} ${mutant.mutator} (${files.length} of ${all} files)`);
    console.log(`  - ${mutant.original.replace(/\s+/g, ' ').slice(0, 200)}`);
    console.log(`  + ${mutant.replacement.replace(/\s+/g, ' ').slice(0, 200)}`);
  }
}

function rowOf(name, belongs) {
  const inModule = copy.mutants.filter((mutant) => belongs(mutant) && modules.includes(mutant.module));
  const own = chosen.filter(belongs);
  const count = (outcome) => own.filter((mutant) => outcomeOf(mutant) === outcome).length;
  const found = count('killed') + count('timeout');
  const judged = own.length - count('open');
  const { low, high } = wilson(found, judged);
  const percent = (share) => (100 * share).toFixed(1);
  return [
    name,
    inModule.length,
    inModule.filter(({ ignored }) => ignored).length,
    own.length,
    ...['killed', 'timeout', 'survived', 'not reached', 'open'].map(count),
    judged === 0 ? '' : `${percent(found / judged)} %`,
    `${percent(low)} to ${percent(high)} %`,
  ];
}

function outcomeOf(mutant) {
  const { files } = reached.get(mutant.id);
  if (files.length === 0) return 'not reached';
  if (openFiles(mutant, files).length > 0) return 'open';
  return standingKiller(mutant)?.verdict ?? 'survived';
}

/** The results hold for the code that they were found with. */
function readCache(name) {
  try {
    const { code, entries } = JSON.parse(readFileSync(join(CACHE, `${name}.json`), 'utf8'));
    return code === copy.codeHash ? entries : {};
  } catch {
    return {};
  }
}

function writeCache(name, entries) {
  const file = join(CACHE, `${name}.json`);
  const plain = (key, value) => (key === 'loadSet' ? undefined : value);
  writeFileSync(`${file}.new`, JSON.stringify({ code: copy.codeHash, entries }, plain));
  renameSync(`${file}.new`, file);
}
