import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(__dirname, '../..');
const page = readFileSync(resolve(root, 'docs/spec/openid-conformance.md'), 'utf8');
const rows = [...page.matchAll(/^\| `([^`]+)` +\| (.+?) +\|$/gm)].map(([, module, test]) => [module!, test!] as const);

/** The text of the file that a row names, such as `spec/oidc-fapi`. */
function textOf(test: string): string {
  const [, kind = '', name = ''] = /^`(spec|process)\/([\w-]+)`/.exec(test) ?? [];
  const file = resolve(root, `test/${kind}/${name}.${kind === 'spec' ? 'e2e' : 'process'}-spec.ts`);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

describe('docs/spec/openid-conformance.md', () => {
  it('has the modules of the plans, each once', () => {
    expect(rows.length).toBeGreaterThan(90);
    expect(new Set(rows.map(([module]) => module)).size).toBe(rows.length);
  });

  it.each(rows)('%s: a test has its name, or the page says why it is not offered', (module, test) => {
    if (/^not offered: \S/.test(test)) return;
    // A row with a number of the catalogue names that instead.
    const name = /\[(T\d{3})\]/.exec(test)?.[1] ?? (test.startsWith('`process/') ? 'it(' : module);
    expect([module, textOf(test).includes(name)]).toEqual([module, true]);
  });
});
