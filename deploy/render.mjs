#!/usr/bin/env node
// node deploy/render.mjs: writes deploy/rendered (the example overlays and Jobs as kustomize renders them), the copy of the
// alerts in the monitoring component, and the paths of the Ingress as HTTPRoute. Tests read these files, and fail when the
// sources have changed since. Needs kustomize or kubectl.
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

/**
 * The paths of the Ingress as the object that a gateway reads.
 * @param portal whether the service serves the pages (components/portal)
 */
export function httpRoute({ portal }) {
  const { http, host } = readYaml('base/ingress.yaml').spec.rules[0];
  const paths = [...http.paths];
  const patches = portal ? readYaml('components/portal/kustomization.yaml').patches : [];
  for (const { op, path, value } of patches.flatMap(({ patch }) => parse(patch))) {
    if (op === 'replace' && path.endsWith('/paths/0')) paths[0] = value;
    else if (op === 'add' && path.endsWith('/paths/-')) paths.push(value);
    else throw new Error(`components/portal has a patch that this function does not know: ${op} ${path}`);
  }
  const services = [...new Set(paths.map(({ backend }) => backend.service.name))];
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'portal-authentication', labels: { 'app.kubernetes.io/name': 'portal-authentication' } },
    spec: {
      parentRefs: [{ name: 'portal-authentication' }],
      hostnames: [host],
      rules: services.map((name) => ({
        matches: paths.filter(({ backend }) => backend.service.name === name).map(matchOf),
        backendRefs: [{ name, port: 80 }],
        timeouts: { request: '20s' },
      })),
    },
  };
}

const matchOf = ({ path, pathType }) => ({
  path: { type: pathType === 'Exact' ? 'Exact' : 'PathPrefix', value: path },
});

const readYaml = (name) => parse(readFileSync(join(kustomize, name), 'utf8'));

/** The Jobs that an operator applies when they are needed. The overlays do not contain them. */
const jobs = ['adopt', 'config-apply', 'import', 'maintenance', 'upgrade-check'];

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
  for (const [component, portal] of [
    ['gateway-api', false],
    ['gateway-api-portal', true],
  ]) {
    const from = '# deploy/render.mjs writes this file from deploy/kustomize/base/ingress.yaml.\n';
    const route = stringify(httpRoute({ portal }), { lineWidth: 0 });
    writeFileSync(join(kustomize, 'components', component, 'http-route.yaml'), from + route);
  }
  mkdirSync(join(deploy, 'rendered'), { recursive: true });
  const head = `# deploy/render.mjs writes this file from deploy/kustomize. Checksum of the sources: ${digestOfSources()}.\n`;
  for (const overlay of readdirSync(join(kustomize, 'overlays'))) {
    writeFileSync(join(deploy, 'rendered', `${overlay}.yaml`), head + render(join('overlays', overlay)));
  }
  for (const example of readdirSync(join(kustomize, 'examples'))) {
    writeFileSync(join(deploy, 'rendered', `example-${example}.yaml`), head + render(join('examples', example)));
  }
  for (const job of jobs) writeFileSync(join(deploy, 'rendered', `job-${job}.yaml`), head + render(join('jobs', job)));
}
