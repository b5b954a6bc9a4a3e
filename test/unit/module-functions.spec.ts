import { runInNewContext } from 'node:vm';
import { withOneCopyOfModules } from '../../scripts/module-functions.mjs';

/** As rolldown writes it, with a counter. */
const runTime = (copy: string) => `var copied = 0;\nvar __toCommonJS = (mod) => ${copy};\n`;

describe('the run time of the bundle', () => {
  it('makes one copy of a module for all who require it, and one for each module', () => {
    const code = withOneCopyOfModules(runTime('({ n: ++copied, mod })'));
    const copyOf = runInNewContext(`${code}__toCommonJS;`, { WeakMap }) as (module: object) => unknown;
    const [one, other] = [{}, {}];
    expect(copyOf(one)).toEqual({ n: 1, mod: one });
    expect(copyOf(one)).toBe(copyOf(one));
    expect(copyOf(other)).toEqual({ n: 2, mod: other });
  });

  it('stops the build when rolldown writes it otherwise', () => {
    expect(() => withOneCopyOfModules('function __toCommonJS(mod) {}')).toThrow('has changed');
  });
});
