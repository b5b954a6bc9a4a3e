import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(__dirname, '../..');

/** Runs code in a process of its own, after scripts/shared-scripts.cjs, which changes functions of Node. */
const printed = (code: string) =>
  execFileSync(process.execPath, ['--expose-gc', '--require', './scripts/shared-scripts.cjs', '--eval', code], {
    cwd: root,
    encoding: 'utf8',
  }).trim();

const compile = (context: string) =>
  `vm.compileFunction('return 1', [], { filename: 'a.js', parsingContext: ${context} });`;

describe('what a worker of jest keeps from one test file to the next', () => {
  it.each([
    ['enterWith', 'storage.enterWith(1); work();'],
    ['run', 'storage.run(1, work);'],
  ])(
    'an AsyncLocalStorage that a test file entered (%s) is disabled when another file begins, not before',
    (_, enter) => {
      const code = `
      const { AsyncLocalStorage } = require('node:async_hooks');
      const [first, second] = [vm.createContext(), vm.createContext()];
      const storage = new AsyncLocalStorage();
      const work = () => {
        ${compile('first')} console.log(storage.getStore());
        ${compile('second')} console.log(storage.getStore());
      };
      ${compile('first')} ${enter}`;
      expect(printed(code)).toBe('1\nundefined');
    },
  );

  it('what a test file has made is collected when another file has begun', () => {
    const code = `
      let made = { by: 'the first file' };
      const gone = new WeakRef(made);
      const run = (filename, imports) => vm.compileFunction('return 1', [], {
        filename, parsingContext: vm.createContext(), importModuleDynamically: imports,
      })();
      run('first.js', ((held) => () => held)(made));
      made = undefined;
      run('second.js', () => undefined);
      // A WeakRef keeps its object until the current job has ended.
      setTimeout(() => { gc(); console.log(gone.deref()); });`;
    expect(printed(code)).toBe('undefined');
  });

  it('a module is compiled once, and runs in the context of each test file', () => {
    const code = `
      const contexts = [vm.createContext({ name: 'a' }), vm.createContext({ name: 'b' })];
      const { Script } = vm; let compiled = 0;
      vm.Script = class extends Script { constructor(...args) { super(...args); compiled++; } };
      const names = contexts.map((parsingContext) =>
        vm.compileFunction('return name + more', ['more'], { filename: 'a.js', parsingContext })('!'));
      console.log(compiled, ...names);`;
    expect(printed(code)).toBe('1 a! b!');
  });
});
