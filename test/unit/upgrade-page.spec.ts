import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { migrations } from '../../migrations/all';
import { measured } from '../../migrations/measured';
import { oldestRelease, releases } from '../../migrations/releases';

const page = readFileSync(resolve(__dirname, '../../docs/operations/upgrade.md'), 'utf8');

describe('docs/operations/upgrade.md', () => {
  it('has the figures that npm run check:migrations has measured', () => {
    const table = /<!-- measured migrations -->([\s\S]*?)<!-- end -->/.exec(page)![1]!;
    const rows = [...table.matchAll(/^\| `(\w+)` +\| +([\d.]+) +\| +([\d.]+) +\|$/gm)].map(([, ...cells]) => cells);
    const figures = Object.entries(measured.migrations);
    expect(rows).toEqual(figures.map(([name, one]) => [name, `${one.seconds}`, `${one.longestLoginSeconds}`]));
  });

  it('the record is of a million users, and no login waited for two seconds', () => {
    expect(measured.rows).toMatchObject({ users: 1_000_000 });
    expect(measured.rows.login_logs! + measured.rows.audit_logs!).toBe(2_000_000);
    for (const one of Object.values(measured.migrations)) expect(one.longestLoginSeconds).toBeLessThan(2);
  });

  it('the record names only migrations since the oldest version beside which this one may run, in their order', () => {
    const names = migrations.map((one) => new one().name);
    const since = names.slice(names.indexOf(oldestRelease.lastMigration) + 1);
    expect(names).toContain(oldestRelease.lastMigration);
    const recorded = Object.keys(measured.migrations);
    expect(recorded).toEqual(since.filter((name) => recorded.includes(name)));
  });

  it('each released version has a last migration, in the order of the migrations, and the page names the version', () => {
    const places = releases.map((one) => migrations.findIndex((migration) => migration.name === one.lastMigration));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    for (const { version } of releases) expect(page).toContain(`<a id="from-${version}"></a>From version ${version}`);
  });
});
