import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

interface Operation {
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
}

const read = (file: string): string => readFileSync(resolve(__dirname, '../..', file), 'utf8');
const readme = read('README.md');

describe('README.md', () => {
  const { paths } = JSON.parse(read('openapi.json')) as { paths: Record<string, Record<string, Operation>> };
  const operations = new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    ),
  );
  const rows = new Map(
    [...readme.matchAll(/^\| `((?:GET|POST|PUT|PATCH|DELETE) [^`]+)` +\|[^|]*\| *([^|]*?) *\|$/gm)].map(
      ([, endpoint, token]) => [String(endpoint), String(token)] as const,
    ),
  );

  // docs/operations/administration.md lists the endpoints below /admin/.
  const listed = [...operations].filter(([endpoint]) => !endpoint.includes(' /admin/'));

  it('lists exactly the endpoints of openapi.json, without those of the administration', () => {
    expect([...rows.keys()].sort()).toEqual(listed.map(([endpoint]) => endpoint).sort());
  });

  it.each(listed)('tells which tokens %s takes', (endpoint, { security = [] }) => {
    const schemes = security.flatMap((alternative) => Object.keys(alternative));
    const named = (['access', 'refresh'] as const).filter((token) => rows.get(endpoint)?.includes(token));
    expect(named.map((token) => `${token}_token`)).toEqual([...new Set(schemes)].sort());
    expect(rows.get(endpoint) === 'none').toBe(schemes.length === 0);
  });

  it('names the oldest supported versions of Node', () => {
    const { engines } = JSON.parse(read('package.json')) as Manifest;
    const [row] = /^\| Node .*$/m.exec(readme) ?? [];
    for (const [version] of engines.node.matchAll(/\d+\.\d+/g)) expect(row).toContain(version);
  });
});

describe('the pages of this repository', () => {
  const { scripts } = JSON.parse(read('package.json')) as Manifest;
  const pages = readdirSync(resolve(__dirname, '../../docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);

  it.each(['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages])(
    '%s names only scripts of package.json',
    (page) => {
      const named = [...read(page).matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, script]) => String(script));
      expect(named.filter((script) => scripts[script] === undefined)).toEqual([]);
    },
  );
});
