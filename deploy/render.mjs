#!/usr/bin/env node
// node deploy/render.mjs: writes deploy/rendered (the example overlays and Jobs as kustomize renders them) and the copy of
// the alerts in the monitoring component. Tests read these files, and fail when the sources have changed since. Needs
// kustomize or kubectl.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';

const deploy = fileURLToPath(new URL('.', import.meta.url));
const kustomize = join(deploy, 'kustomize');
const rule = join(kustomize, 'components/monitoring/prometheus-rule.yaml');

/** A checksum of all files that kustomize reads. */
export function digestOfSources() {
  const names = readdirSync(kustomize, { recursive: true }).sort();
  const hash = createHash('sha256');
  for (const name of names.filter((one) => statSync(join(kustomize, one)).isFile())) {
    hash.update(`${name}\0${readFileSync(join(kustomize, name), 'utf8')}\0`);
  }
  return hash.digest('hex');
}

/** The alerts as the object that the Prometheus operator reads. */
export function prometheusRule() {
  const { groups } = parse(readFileSync(join(deploy, 'monitoring/alerts.yaml'), 'utf8'));
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'portal-authentication', labels: { 'app.kubernetes.io/name': 'portal-authentication' } },
    spec: { groups },
  };
}

/** The Jobs that an operator applies when they are needed. The overlays do not contain them. */
const jobs = ['adopt', 'import', 'maintenance'];

function render(folder) {
  const path = join(kustomize, folder);
  const reasons = [];
  for (const [command, verb] of [
    ['kustomize', 'build'],
    ['kubectl', 'kustomize'],
  ]) {
    const { status, stdout, stderr } = spawnSync(command, [verb, path], { encoding: 'utf8' });
    if (status === 0) return stdout;
    reasons.push(`${command}: ${stderr ?? 'not found'}`);
  }
  throw new Error(`neither kustomize nor kubectl renders ${path}\n${reasons.join('\n')}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const note = '# deploy/render.mjs writes this file from deploy/monitoring/alerts.yaml.\n';
  writeFileSync(rule, note + stringify(prometheusRule(), { lineWidth: 0 }));
  mkdirSync(join(deploy, 'rendered'), { recursive: true });
  const head = `# deploy/render.mjs writes this file from deploy/kustomize. Checksum of the sources: ${digestOfSources()}.\n`;
  for (const overlay of readdirSync(join(kustomize, 'overlays'))) {
    writeFileSync(join(deploy, 'rendered', `${overlay}.yaml`), head + render(join('overlays', overlay)));
  }
  for (const job of jobs) writeFileSync(join(deploy, 'rendered', `job-${job}.yaml`), head + render(join('jobs', job)));
}
