import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { hostFor } from '../support/servers/choose-host';

const monitoring = resolve(__dirname, '../../deploy/monitoring');
const read = (name: string): any => parse(readFileSync(join(monitoring, name), 'utf8'));
const rules = read('alerts.yaml').groups.flatMap((group: any) => group.rules) as { alert: string; expr: string }[];

/** Prometheus itself judges the rules, by the series of deploy/monitoring/alerts.test.yaml. */
describe('the alerts', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'alerts-'));
    for (const name of ['alerts.yaml', 'alerts.test.yaml'])
      await copyFile(join(monitoring, name), join(directory, name));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const promtool = (...args: string[]) => hostFor('promtool', directory, []).prepare('promtool', args);

  it('are rules that Prometheus takes', async () => {
    expect(await promtool('check', 'rules', join(directory, 'alerts.yaml'))).toContain(`${rules.length} rules found`);
  });

  it('fire when they should: down beside another environment, the first bug of a pod, jobs, replicas, Redis; not for probes', async () => {
    expect(await promtool('test', 'rules', join(directory, 'alerts.test.yaml'))).toContain('SUCCESS');
  });

  it('are all seen to fire there', () => {
    const cases = read('alerts.test.yaml').tests.flatMap((one: any) => one.alert_rule_test) as any[];
    const fired = cases.filter(({ exp_alerts: expected = [] }) => expected.length > 0).map((one) => one.alertname);
    expect(new Set(fired)).toEqual(new Set(rules.map(({ alert }) => alert)));
  });

  it.each(rules.map(({ alert, expr }) => [alert, expr]))('%s looks at this service alone', (_, expr) => {
    const selectors = expr.match(/\b(?:up|(?:auth|nodejs|kube)_\w+)\b(?:\{[^}]*\})?/g)!;
    for (const selector of selectors) {
      expect(selector).toMatch(/\{.*(job|deployment|job_name|horizontalpodautoscaler)=~?"portal-authentication\b/);
    }
  });
});
