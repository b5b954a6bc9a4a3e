import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { runbooks } from '../support/runbooks';
import { hostFor } from '../support/servers/choose-host';

const monitoring = resolve(__dirname, '../../deploy/monitoring');
const read = (name: string): any => parse(readFileSync(join(monitoring, name), 'utf8'));
const all = read('alerts.yaml').groups.flatMap((group: any) => group.rules) as { record?: string; expr: string }[];
const rules = all.filter(({ record }) => record === undefined) as {
  alert: string;
  expr: string;
  annotations: Record<string, string>;
}[];
const recorded = all.flatMap(({ record }) => record ?? []);
const testFiles = ['alerts.test.yaml', 'alerts-slow.test.yaml'];

/** Prometheus itself tests the rules, with the series of deploy/monitoring/alerts.test.yaml. */
describe('the alerts', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'alerts-'));
    for (const name of ['alerts.yaml', ...testFiles]) await copyFile(join(monitoring, name), join(directory, name));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const promtool = (...args: string[]) => hostFor('promtool', directory, []).prepare('promtool', args);

  it('are accepted by Prometheus', async () => {
    expect(await promtool('check', 'rules', join(directory, 'alerts.yaml'))).toContain(`${all.length} rules found`);
  });

  it.each(testFiles)('fire for the series of %s, and only for them', async (name) => {
    expect(await promtool('test', 'rules', join(directory, name))).toContain('SUCCESS');
  });

  it('each have a test in which they fire', () => {
    const cases: any[] = testFiles.flatMap((name) => read(name).tests.flatMap((one: any) => one.alert_rule_test));
    const fired = cases.filter(({ exp_alerts: expected = [] }) => expected.length > 0).map((one) => one.alertname);
    expect(new Set(fired)).toEqual(new Set(rules.map(({ alert }) => alert)));
  });

  it('each link to the section of a runbook that says how to notice, what to run, and how to see that it worked', () => {
    for (const { alert, annotations } of rules) {
      const [path, anchor] = annotations.runbook_url!.split('#');
      const page = runbooks().find((one) => path === `docs/operations/runbooks/${one.page}`);
      const section = page?.sections.get(alert) ?? '';
      expect({ alert, anchor }).toEqual({ alert, anchor: alert.toLowerCase() });
      expect(section.match(/^\*\*[^*]+\.\*\*/gm)).toEqual([
        '**How you notice.**',
        '**What to run.**',
        '**How you see that it worked.**',
      ]);
      expect(section).toContain('```sh\n');
    }
  });

  it('no section of the runbooks is about an alert that does not exist', () => {
    const sections = runbooks().flatMap((page) => [...page.sections.keys()]);
    expect(sections.sort()).toEqual(rules.map(({ alert }) => alert).sort());
  });

  it('each recorded series is of a namespace alone, is recorded once, and is used by an alert, another record or the dashboard', () => {
    expect(new Set(recorded).size).toBe(recorded.length);
    const used = [...all.map(({ expr }) => expr), JSON.stringify(read('grafana-dashboard.json'))];
    const named = new Set(used.flatMap((text) => text.match(/\bnamespace:\w+:\w+/g) ?? []));
    expect([...named].sort()).toEqual([...recorded].sort());
  });

  it.each([
    ...rules.map(({ alert, expr }) => [alert, expr]),
    ...all.flatMap(({ record, expr }) => (record === undefined ? [] : [[record, expr]])),
  ])('%s selects only this service', (_, expr) => {
    const selectors = expr.match(/\b(?:up|(?:auth|nodejs|kube)_\w+)\b(?:\{[^}]*\})?/g) ?? [];
    expect(selectors.length > 0 || recorded.some((name) => expr.includes(name))).toBe(true);
    for (const selector of selectors) {
      expect(selector).toMatch(
        /\{.*(job|deployment|job_name|cronjob|horizontalpodautoscaler)=~?"portal-authentication\b/,
      );
    }
  });
});

describe('the dashboard', () => {
  const { panels, templating } = read('grafana-dashboard.json') as {
    panels: { title: string; targets?: { expr: string }[] }[];
    templating: { list: { name: string; query: string; includeAll?: boolean }[] };
  };
  const queries = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }): [string, string] => [title, expr]),
  );

  it('lets its reader choose one namespace', () => {
    expect(templating.list.find(({ name }) => name === 'namespace')).toMatchObject({
      query: 'label_values(auth_build_info{job="$job"}, namespace)',
      includeAll: false,
    });
  });

  it.each(queries)('%s looks at the chosen namespace alone: %s', (_, expr) => {
    const found = (pattern: RegExp) => expr.match(pattern)?.length ?? 0;
    const metrics = found(/\b(auth|nodejs|process)_\w+/g);
    expect(found(/\{job="\$job",namespace="\$namespace"[,}]/g)).toBe(metrics);
    // A recorded series is that of a namespace, whatever the job was called.
    const series = found(/\bnamespace:\w+:\w+/g);
    expect(found(/\bnamespace:\w+:\w+\{namespace="\$namespace"\}/g)).toBe(series);
    expect(metrics + series).toBeGreaterThan(0);
  });
});
