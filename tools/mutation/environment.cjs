'use strict';
/**
 * The jest environment of the mutation run. The instrumented code asks `globalThis.__stryker__` which mutant is active.
 * The plan in the file `MUTATION_PLAN` says what to do with a test file:
 *
 * - `coverage`: run it once, and write down which test reaches which mutant.
 * - `replay`: load it once, and run its tests once for each mutant. Only tests that reach the mutant run, up to the first
 *   failure. After each failure the same tests run without the mutant: if they fail as well, the failure proves nothing.
 * - `alone`: the mutant is active from the first line on. Needed for code that runs while the files load.
 */
const { appendFileSync, readFileSync } = require('node:fs');

const { TestEnvironment } = require('jest-environment-node');

class MutationEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.plan = JSON.parse(readFileSync(process.env.MUTATION_PLAN, 'utf8'));
    this.file = context.testPath;
    this.tests = [];
  }

  async setup() {
    await super.setup();
    this.stryker = this.global.__stryker__ = {};
    if (this.plan.mode === 'coverage') this.stryker.mutantCoverage = { static: {}, perTest: {} };
    if (this.plan.mode === 'alone') this.activate(this.plan.mutants[0]);
  }

  async teardown() {
    if (this.plan.mode === 'coverage') this.write(this.coverage());
    if (this.plan.mode === 'alone' && this.tests.length > 0) this.conclude(this.run);
    await super.teardown();
  }

  handleTestEvent(event, state) {
    if (event.name === 'run_start') this.prepare(state);
    if (event.name === 'run_describe_start' && event.describeBlock.mutation) this.begin(event.describeBlock.mutation);
    if (event.name === 'run_describe_finish' && event.describeBlock.mutation) this.end(event.describeBlock.mutation);
    if (event.name === 'test_start') {
      if (this.plan.mode === 'coverage') this.stryker.currentTestId = `${event.test.position}`;
      else if (this.run?.failure !== undefined) event.test.mode = 'skip';
    }
    if (event.name === 'test_done') {
      if (this.plan.mode === 'coverage') this.stryker.currentTestId = 'hooks';
      if (event.test.errors.length > 0) this.fail(event.test, event.test.errors[0]);
    }
    if (event.name === 'hook_failure' && event.describeBlock) {
      this.fail(testsOf(event.describeBlock).find(({ mode }) => mode !== 'skip') ?? this.tests.at(-1), event.error);
    }
  }

  prepare(state) {
    const root = state.rootDescribeBlock;
    this.tests = testsOf(root);
    this.tests.forEach((test, position) => (test.position = position));
    if (this.plan.mode === 'coverage') this.stryker.currentTestId = 'hooks';
    if (this.plan.mode === 'alone') {
      limitTimes(root, this.plan.milliseconds);
      return;
    }
    if (this.plan.mode !== 'replay') return;
    const { children, hooks } = root;
    const replay = (name, mutation) => {
      const block = copyOf({ ...root, name, children, hooks }, root);
      limitTimes(block, this.plan.milliseconds);
      return Object.assign(block, { mutation: { ...mutation, block } });
    };
    root.hooks = [];
    root.children = this.plan.mutants.flatMap((mutant) => {
      const run = { mutant };
      return [replay(`mutant ${mutant.id}`, { run }), replay(`without ${mutant.id}`, { run, control: true })];
    });
  }

  begin({ run, control, block }) {
    const { mutant } = run;
    const last = control ? (run.failure?.position ?? -1) : Infinity;
    for (const test of testsOf(block)) {
      if (!mutant.tests.includes(test.position) || test.position > last) test.mode = 'skip';
    }
    this.run = control ? { mutant } : run;
    if (control) {
      this.stryker.activeMutant = undefined;
      return;
    }
    this.write({ started: mutant.id });
    this.activate(mutant);
  }

  end({ run, control }) {
    this.stryker.activeMutant = undefined;
    if (!control && run.failure === undefined) this.conclude(run);
    if (control && run.failure !== undefined) this.conclude(run, this.run.failure !== undefined);
    this.run = undefined;
  }

  activate(mutant) {
    this.run ??= { mutant };
    Object.assign(this.stryker, { activeMutant: mutant.id, hitCount: 0, hitLimit: mutant.hitLimit });
  }

  fail(test, error) {
    if (this.plan.mode === 'coverage') this.failed = true;
    if (this.run === undefined || this.run.failure !== undefined) return;
    const message = String((Array.isArray(error) ? error[0] : error)?.message ?? error);
    const late = /Exceeded timeout|Hit count limit/.test(message);
    this.run.failure = { position: test?.position ?? 0, title: titleOf(test), late };
  }

  conclude({ mutant, failure }, doubtful = false) {
    const verdict = doubtful ? 'doubtful' : failure === undefined ? 'survived' : failure.late ? 'timeout' : 'killed';
    this.write({ id: mutant.id, verdict, by: failure?.title });
  }

  coverage() {
    const { static: load, perTest } = this.stryker.mutantCoverage;
    const hits = {};
    for (const [test, counts] of Object.entries(perTest)) {
      for (const [id, count] of Object.entries(counts)) {
        const found = (hits[id] ??= { count: 0, tests: [], hooks: false });
        found.count += count;
        if (test === 'hooks') found.hooks = true;
        else found.tests.push(Number(test));
      }
    }
    return {
      failed: this.failed === true || this.tests.length === 0,
      milliseconds: this.tests.map(({ duration }) => duration ?? 0),
      skipped: this.tests.flatMap(({ status }, position) => (status === 'done' ? [] : [position])),
      load: Object.keys(load),
      hits,
    };
  }

  write(line) {
    appendFileSync(this.plan.output, `${JSON.stringify({ file: this.file, ...line })}\n`);
  }
}

function testsOf(block) {
  return block.children.flatMap((child) => (child.type === 'describeBlock' ? testsOf(child) : [child]));
}

function copyOf(block, parent) {
  const copy = { ...block, parent, tests: [], children: [] };
  copy.hooks = block.hooks.map((hook) => ({ ...hook, parent: copy }));
  copy.children = block.children.map((child) =>
    child.type === 'describeBlock' ? copyOf(child, copy) : copyOfTest(child, copy),
  );
  return copy;
}

function copyOfTest(test, parent) {
  return { ...test, parent, errors: [], retryReasons: [], unhandledRejectionErrorByPromise: new Map() };
}

/** A mutant can make a test wait for ever. */
function limitTimes(block, milliseconds) {
  for (const hook of block.hooks) hook.timeout = 20_000;
  for (const child of block.children) {
    if (child.type === 'describeBlock') limitTimes(child, milliseconds);
    else child.timeout = 10_000 + 5 * (milliseconds[child.position] ?? 0);
  }
}

function titleOf(test) {
  const titles = [];
  for (let node = test; node && node.name !== 'ROOT_DESCRIBE_BLOCK'; node = node.parent) titles.unshift(node.name);
  return titles.filter((title) => !/^(mutant|without) \d+$/.test(title)).join(' › ');
}

module.exports = MutationEnvironment;
