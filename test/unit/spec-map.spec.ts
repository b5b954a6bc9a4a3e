import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(__dirname, '../..');
const kinds = {
  spec: 'e2e-spec',
  db: 'db-spec',
  process: 'process-spec',
  browser: 'browser-spec',
  unit: 'spec',
} as const;

const filesBelow = (folder: string): string[] =>
  readdirSync(resolve(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`);

/** Turns `spec/ldap-*` into the pattern of the test files that it means. */
function patternOf(name: string): RegExp {
  const [, kind] = /^(spec|db|process|browser|unit)\//.exec(name) ?? [];
  const folder = name.startsWith('portal/src') ? '' : 'src/';
  const path = kind ? `test/${name}.${kinds[kind as keyof typeof kinds]}.ts` : `${folder}${name.replace(/\/$/, '')}`;
  const pattern = path.replace(/[.]/g, '\\.').replace(/\*\*\/|\*/g, (glob) => (glob === '*' ? '[^/]*' : '(.*/)?'));
  return new RegExp(`^${pattern}$`);
}

describe('docs/spec-map.md', () => {
  const rows = [...readFileSync(resolve(root, 'docs/spec-map.md'), 'utf8').matchAll(/^\|.*\|$/gm)].slice(2);
  const named = rows.flatMap(([row]) => {
    const [code = '', tests = ''] = row.split('|').slice(-3, -1);
    return [...`${code},${tests}`.matchAll(/`([^`]+)`/g)].map(([, name]) => String(name));
  });
  const files = ['src', 'test', 'portal/src'].flatMap(filesBelow);

  it.each([...new Set(named)])('names an existing file or folder: %s', (name) => {
    expect(files.filter((file) => patternOf(name).test(file))).not.toEqual([]);
  });

  it('has a row for each part of the specification', () => {
    expect(rows.length).toBeGreaterThan(20);
  });
});
