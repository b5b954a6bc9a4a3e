import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const src = resolve(__dirname, '../../src');

/**
 * `SET x = x`, also through EntityRows. It locks a row on one server, but the nodes of a cluster do not see it
 * (docs/adr/0029).
 */
const unchanged = /\bSET (\w+) = \1(?! [-+])\b|\b(\w+): \(\) => '\2'/g;

/** Statements that lock nothing that a transaction relies on. */
const allowed: Record<string, string> = {
  'platform/database/writability.ts': 'tries whether the server takes writes',
  'users/users.repository.ts': 'tries whether the account may write',
  'platform/settings/system-config.repository.ts':
    'without a change, either order of two transactions has the same result',
};

describe('locks of rows', () => {
  it('each one changes the row, so that it holds on all nodes of a cluster', () => {
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
    );
    const found = files.filter((file) => {
      const text = readFileSync(join(src, file), 'utf8');
      return [...text.matchAll(unchanged)].length > 0 || /\bFOR (UPDATE|SHARE)\b/.test(text);
    });
    expect(found.sort()).toEqual(Object.keys(allowed).sort());
  });
});
