import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/platform/config/app-config';
import { testSettings } from '../support/settings';

const ROOT = resolve(__dirname, '../..');
const KUSTOMIZE = join(ROOT, 'deploy/kustomize');
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8');
const documents = (file: string): any[] => parseAllDocuments(readFileSync(file, 'utf8')).map((one) => one.toJS());
const files = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join(directory, name));

const base = files(join(KUSTOMIZE, 'base'))
  .flatMap(documents)
  .filter(({ kind }) => kind !== 'Kustomization');
const kind = (wanted: string): any => base.find((one) => one.kind === wanted);
const podSpecs: [string, any][] = [
  ['Deployment', kind('Deployment').spec.template.spec],
  ['Job', kind('Job').spec.template.spec],
  ['CronJob', kind('CronJob').spec.jobTemplate.spec.template.spec],
];

describe('the manifests against the schemas of Kubernetes', () => {
  it.each(base.map((one) => [`${one.kind} ${one.metadata.name}`, one]))('%s', (_, manifest) => {
    expect(faultsOf(manifest)).toEqual([]);
  });

  it('the check itself knows a wrong type, a missing field and a field that there is none of', () => {
    const deployment = structuredClone(kind('Deployment'));
    const container = deployment.spec.template.spec.containers[0];
    container.ports[0].containerPort = 'http';
    container.readinesProbe = container.readinessProbe;
    delete deployment.spec.selector;
    expect(faultsOf(deployment)).toEqual([
      expect.stringContaining('selector'),
      expect.stringContaining('containerPort'),
      'unknown: spec.template.spec.containers.0.readinesProbe',
    ]);
  });
});

describe('what the base promises', () => {
  it('has everything that an installation needs', () => {
    expect(base.map((one) => one.kind as string).sort()).toEqual([
      'ConfigMap',
      'CronJob',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'Job',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'Service',
      'ServiceAccount',
    ]);
  });

  it.each(podSpecs)('%s: no root, no capability, nothing to write, no token of the cluster', (_, pod) => {
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(pod.securityContext.runAsUser).toBeGreaterThanOrEqual(10_000);
    for (const container of pod.containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.resources.limits.memory).toBeDefined();
      expect(container.resources.requests.cpu).toBeDefined();
    }
  });

  it.each(podSpecs)('%s: secrets are files that are mounted, never variables', (_, pod) => {
    const [container] = pod.containers;
    const mount = container.volumeMounts.find((one: any) => one.name === 'secrets').mountPath as string;
    for (const name of ['DATABASE_URL', 'JWT_SECRET', 'DATA_ENCRYPTION_KEY']) {
      expect(container.env).toContainEqual({ name: `${name}_FILE`, value: `${mount}/${name}` });
    }
    expect(JSON.stringify(pod)).not.toMatch(/secretKeyRef|secretRef/);
  });

  it('the start needs nothing but the ConfigMap, an overlay and the three secrets', () => {
    const overlay = documents(join(KUSTOMIZE, 'overlays/production/settings.yaml'))[0];
    const secrets = {
      DATABASE_URL: 'mysql://user:password@db/portal',
      JWT_SECRET: testSettings.JWT_SECRET,
      DATA_ENCRYPTION_KEY: testSettings.DATA_ENCRYPTION_KEY,
    };
    const config = loadConfig({ ...kind('ConfigMap').data, ...overlay.data, ...secrets });
    const [container] = kind('Deployment').spec.template.spec.containers;
    const port = (name: string) => container.ports.find((one: any) => one.name === name).containerPort as number;
    expect(config).toMatchObject({
      production: true,
      http: { host: '0.0.0.0', port: port('http'), metricsPort: port('metrics') },
      database: { migrateOnStart: false },
    });
    expect(config.http.trustedProxies.length).toBeGreaterThan(0);
  });

  it('the grace period covers the pause before SIGTERM and the 10 s that the drain may take', () => {
    const pod = kind('Deployment').spec.template.spec;
    const pauseMs = Number(/(\d+)\)$/.exec(pod.containers[0].lifecycle.preStop.exec.command.at(-1) as string)?.[1]);
    expect(pauseMs).toBeGreaterThanOrEqual(5000);
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(pauseMs + 10_000);
  });

  it('a roll-out and an eviction never leave fewer than were wanted, or one less', () => {
    expect(kind('Deployment').spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    expect(kind('Deployment').spec.replicas).toBeUndefined();
    expect(kind('PodDisruptionBudget').spec.maxUnavailable).toBe(1);
    expect(kind('HorizontalPodAutoscaler').spec.minReplicas).toBeGreaterThanOrEqual(2);
  });

  it('liveness never asks the database, readiness does and outlasts its 5 s', () => {
    const { livenessProbe, startupProbe, readinessProbe } = kind('Deployment').spec.template.spec.containers[0];
    expect([livenessProbe, startupProbe].map(({ httpGet }) => httpGet.path)).toEqual(['/health/live', '/health/live']);
    expect(readinessProbe.httpGet.path).toBe('/health/ready');
    expect(readinessProbe.timeoutSeconds).toBeGreaterThan(5);
  });

  it('T230 the ingress leads to the service and not to the metrics', () => {
    const backends = JSON.stringify(kind('Ingress').spec.rules);
    expect(backends).toContain('"name":"portal-authentication"');
    expect(backends).not.toContain('metrics');
    expect(kind('Ingress').spec.tls).toHaveLength(1);
  });

  it('every selector finds the pods that it means', () => {
    const labels = kind('Deployment').spec.template.metadata.labels;
    const services = base.filter((one) => one.kind === 'Service');
    for (const selector of [
      kind('Deployment').spec.selector.matchLabels,
      kind('PodDisruptionBudget').spec.selector.matchLabels,
      ...services.map(({ spec }) => spec.selector),
      ...kind('Deployment').spec.template.spec.topologySpreadConstraints.map(
        (one: any) => one.labelSelector.matchLabels,
      ),
    ]) {
      expect(selector).toEqual(labels);
    }
    const policy = kind('NetworkPolicy').spec.podSelector;
    for (const component of ['server', 'migration', 'purge']) {
      expect(policy.matchExpressions[0].values).toContain(component);
    }
    const jobs = [kind('Job').spec.template, kind('CronJob').spec.jobTemplate.spec.template];
    expect(jobs.map(({ metadata }) => metadata.labels['app.kubernetes.io/component'])).toEqual(['migration', 'purge']);
    // A pod of a job must never be sent a request.
    for (const { metadata } of jobs) expect(metadata.labels).not.toMatchObject(labels);
  });

  it('the ServiceMonitor finds the Service of the metrics', () => {
    const [monitor] = documents(join(KUSTOMIZE, 'components/monitoring/service-monitor.yaml'));
    const service = base.find((one) => one.metadata.name === 'portal-authentication-metrics');
    const [kustomization] = documents(join(KUSTOMIZE, 'base/kustomization.yaml'));
    const labels = { ...kustomization.labels[0].pairs, ...service.metadata.labels };
    expect(labels).toMatchObject(monitor.spec.selector.matchLabels);
    expect(service.spec.ports[0].name).toBe(monitor.spec.endpoints[0].port);
  });
});

describe('kustomizations', () => {
  const kustomizations = files(KUSTOMIZE).filter((file) => file.endsWith('kustomization.yaml'));

  it.each(kustomizations.map((file) => [file.slice(KUSTOMIZE.length + 1), file]))(
    '%s names what is there',
    (_, file) => {
      const [{ resources = [], components = [], patches = [] }] = documents(file);
      const paths = [...resources, ...components, ...patches.flatMap(({ path }: any) => path ?? [])] as string[];
      for (const path of paths) expect(existsSync(join(dirname(file), path)) ? '' : path).toBe('');
      if (file.includes('/base/')) {
        const all = readdirSync(dirname(file)).filter((name) => name !== 'kustomization.yaml');
        expect([...paths].sort()).toEqual(all.sort());
      }
    },
  );

  it.each(['production', 'staging'])('%s: its patches have something to change', (overlay) => {
    const [{ patches }] = documents(join(KUSTOMIZE, 'overlays', overlay, 'kustomization.yaml'));
    for (const { path, target, patch } of patches) {
      if (path !== undefined) {
        const [patched] = documents(join(KUSTOMIZE, 'overlays', overlay, path));
        expect(base.some((one) => one.kind === patched.kind && one.metadata.name === patched.metadata.name)).toBe(true);
      } else {
        for (const operation of parse(patch)) expect(at(kind(target.kind), operation.path)).toBeDefined();
      }
    }
  });
});

describe('overlays against the schemas of Kubernetes', () => {
  it.each(['production', 'staging'])('%s: what comes of its patches is as good as the base', (overlay) => {
    const [{ patches }] = documents(join(KUSTOMIZE, 'overlays', overlay, 'kustomization.yaml'));
    const results = (patches as any[]).map((patch) => patched(patch, join(KUSTOMIZE, 'overlays', overlay)));
    expect(results.length).toBeGreaterThan(1);
    for (const result of results) expect({ kind: result.kind, faults: faultsOf(result) }).toMatchObject({ faults: [] });
  });

  it('the check itself knows a patch of a wrong type, and a number among the settings', () => {
    const target = { kind: 'HorizontalPodAutoscaler' };
    const wrong = patched({ target, patch: "- { op: replace, path: /spec/maxReplicas, value: 'two' }" }, '');
    expect(faultsOf(wrong)).toEqual([expect.stringContaining('/spec/maxReplicas')]);
    const settings = structuredClone(kind('ConfigMap'));
    settings.data.PORT = 3000;
    expect(faultsOf(settings)).toEqual([expect.stringContaining('/data/PORT')]);
  });
});

describe('Dockerfile', () => {
  const stages = read('Dockerfile')
    .replace(/\\\n/g, ' ')
    .split(/^FROM /m)
    .slice(1);
  const [build, last] = [stages[0]!, stages.at(-1)!];

  it('has two stages of the same image, and builds in the first only', () => {
    expect(stages).toHaveLength(2);
    for (const stage of stages) expect(stage).toMatch(/^node:24-bookworm-slim\b/);
    expect(build).toContain('RUN npm ci\n');
    expect(last).not.toMatch(/npm (ci|install|run)|apt-get|g\+\+|python/);
  });

  it('the last stage takes packages without those of development', () => {
    expect(build.indexOf('npm prune --omit=dev')).toBeGreaterThan(build.indexOf('npm run build'));
    // The program, its packages, and what it is; the pages are no part of the service (portal/README.md).
    expect(last.match(/^COPY .*$/gm)).toEqual([
      'COPY --from=build /app/package.json ./',
      'COPY --from=build /app/node_modules node_modules',
      'COPY --from=build /app/dist dist',
    ]);
  });

  it('runs Node as process 1, as a user with a number, in production, with a health check that needs no shell', () => {
    expect(last).toMatch(/^USER 1\d{4}:1\d{4}$/m);
    expect(last).toMatch(/NODE_ENV=production/);
    expect(last).toMatch(/^CMD \["node", "dist\/src\/main.js"\]$/m);
    const check = /HEALTHCHECK .*?CMD (\[.*\])/.exec(last)?.[1] ?? '';
    expect((JSON.parse(check) as string[]).at(0)).toBe('node');
    expect(check).toContain('/health/live');
    expect(Number(/^USER (\d+)/m.exec(last)?.[1])).toBe(
      kind('Deployment').spec.template.spec.securityContext.runAsUser,
    );
  });

  it('copies what exists, and .dockerignore lets it through', () => {
    const sent =
      read('.dockerignore')
        .match(/^!.*$/gm)
        ?.map((line) => line.slice(1)) ?? [];
    const copied = [...build.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) => names!.split(' '));
    expect(copied.length).toBeGreaterThan(8);
    for (const name of copied) expect(existsSync(join(ROOT, name)) ? '' : `${name} is missing`).toBe('');
    // And nothing that no step uses.
    expect([...sent].sort()).toEqual([...copied].sort());
    for (const name of ['test', 'data', 'docs', 'portal', '.git']) expect(sent).not.toContain(name);
  });

  it('no secret and no setting that weakens anything is in the image', () => {
    expect(read('Dockerfile')).not.toMatch(/SECRET|PASSWORD|KEY|TOKEN|MIGRATE_ON_START|RESET_RESPONSE/);
  });
});

/** What kustomize makes of the base by one patch: RFC 6902 as far as the overlays use it, or a merge of settings. */
function patched({ path, target, patch }: any, folder: string): any {
  if (path !== undefined) {
    const [more] = documents(join(folder, path));
    const whole = structuredClone(kind(more.kind));
    // Every member of the patch is looked at, so that one which the kind has not is told.
    return {
      ...whole,
      ...more,
      metadata: { ...whole.metadata, ...more.metadata },
      data: { ...whole.data, ...more.data },
    };
  }
  const whole = structuredClone(kind(target.kind));
  for (const { op, path: pointer, value } of parse(patch)) {
    expect(op).toBe('replace');
    const [parent, name] = [pointer.slice(0, pointer.lastIndexOf('/')), pointer.slice(pointer.lastIndexOf('/') + 1)];
    (at(whole, parent) as any)[name] = value;
  }
  return whole;
}

/** RFC 6901, as far as the patches use it. */
function at(value: any, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((inner, part) => inner?.[part], value);
}

/**
 * The compiled schemas tell wrong types and missing fields, and pass over what they do not know; but only what they know
 * they look at, so a field that nobody read is one that Kubernetes has not.
 */
function faultsOf(manifest: any): string[] {
  const require = createRequire(__filename);
  const [group, version] = manifest.apiVersion.includes('/')
    ? manifest.apiVersion.split('/')
    : ['', manifest.apiVersion];
  const models = dirname(require.resolve('kubernetes-models/package.json'));
  const definition = readFileSync(join(models, group, version, `${manifest.kind}.js`), 'utf8');
  const schema = /_schemas\/(\w+)/.exec(definition)![1]!;
  const { validate } = require(join(models, '_schemas', `${schema}.js`)) as { validate: any };
  const seen = new Set<string>();
  const valid = validate(watched(manifest, '', seen)) as boolean;
  const errors = valid ? [] : (validate.errors as { instancePath: string; message?: string; params: object }[]);
  const unread = unreadBelow(manifest, '', seen);
  return [
    ...errors.map(({ instancePath, params }) => `${instancePath} ${JSON.stringify(params)}`),
    ...unread.map((path) => `unknown: ${path}`),
  ];
}

function watched(value: any, path: string, seen: Set<string>): any {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, key) {
      const inner = target[key];
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return inner;
      const below = path === '' ? key : `${path}.${key}`;
      seen.add(below);
      return watched(inner, below, seen);
    },
  });
}

/** Of an unknown member only itself is told. */
function unreadBelow(value: any, path: string, seen: ReadonlySet<string>): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((key) => {
    const below = path === '' ? key : `${path}.${key}`;
    return seen.has(below) ? unreadBelow(value[key], below, seen) : [below];
  });
}
