import { readInstallation } from './installation-file';

const problemsOf = (text: string) => readInstallation(text).faults();

describe('the reader of the file of an installation', () => {
  it('reads YAML and JSON alike', () => {
    const json = '{\n\t"version": 1,\n\t"tenants": [{"id": "a", "name": "A"}]\n}';
    expect(JSON.stringify(readInstallation(json).members)).toBe(
      JSON.stringify(readInstallation('version: 1\ntenants:\n  - id: a\n    name: A\n').members),
    );
  });

  it('T651: refuses anchors that grow, tags, doubled keys and depth, each with its line, and keys of prototypes are plain keys', () => {
    const bomb = ['a: &a [x, x]', ...Array.from({ length: 30 }, (_, i) => `b${i}: &b${i} [*a, *a]`)].join('\n');
    expect(problemsOf(bomb)).toContainEqual({
      ...{ path: 'b0[0]', line: 2, column: 10, problem: 'is an alias: write the value in full' },
    });
    expect(problemsOf('version: 1\nversion: 2')).toMatchObject([{ line: 2, problem: 'the key stands there twice' }]);
    expect(problemsOf('version: 1\ntenants: !!js/function "x"')).toMatchObject([{ line: 2 }]);
    expect(problemsOf('['.repeat(100_000))).not.toEqual([]);
    expect(problemsOf('x'.repeat(1_100_000))).toMatchObject([
      { problem: 'the file is larger than 1048576 characters' },
    ]);
    for (const text of ['', '- a', 'text']) expect(problemsOf(text)).toHaveLength(1);
    const { members } = readInstallation('__proto__: { polluted: true }\nconstructor: 1');
    expect(Object.keys(members)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('never repeats a text of the file that it does not understand', () => {
    const canary = 'Canary-Secret-7';
    for (const text of [
      `a: "${canary}`,
      `a: !${canary} x`,
      `a: *${canary}`,
      `a: b: ${canary}`,
      `%${canary}`,
      `"${canary}": {`,
    ]) {
      expect(problemsOf(text)).not.toEqual([]);
      expect(JSON.stringify(problemsOf(text).map(({ problem }) => problem))).not.toContain(canary);
    }
  });
});
