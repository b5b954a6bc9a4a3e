import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/settings/app-config';
import {
  documents,
  EXAMPLES,
  faultsOf,
  find,
  isOfKubernetes,
  JOBS,
  OVERLAYS,
  podSpecsOf,
  read,
  rendered,
  renderedExample,
  renderedJob,
  ROOT,
} from '../support/manifests';
import { testSettings } from '../support/settings';

const production = rendered('production');
const kind = (wanted: string): any => find(production, wanted);
const podSpecs = [
  ...podSpecsOf(production),
  ...JOBS.map((job): [string, any] => [`Job of ${job}`, find(renderedJob(job), 'Job').spec.template.spec]),
];

describe('the rendered manifests', () => {
  it('match their sources: run node deploy/render.mjs after a change', async () => {
    const { digestOfSources, prometheusRule } = await import('../../deploy/render.mjs');
    const rule = documents('deploy/kustomize/components/monitoring/prometheus-rule.yaml')[0];
    expect(rule).toEqual(prometheusRule());
    const others = [...JOBS.map((job) => `job-${job}`), ...EXAMPLES.map((example) => `example-${example}`)];
    const names = [...OVERLAYS, ...others].map((name) => `${name}.yaml`);
    for (const name of names) expect(read('deploy/rendered', name)).toContain(digestOfSources());
    expect(readdirSync(join(ROOT, 'deploy/rendered')).sort()).toEqual(names.sort());
    expect(readdirSync(join(ROOT, 'deploy/kustomize/overlays')).sort()).toEqual([...OVERLAYS].sort());
  });
});

describe('the manifests against the schemas of Kubernetes', () => {
  const titled = (where: string, objects: any[]) =>
    objects.filter(isOfKubernetes).map((one): [string, any] => [`${where}: ${one.kind} ${one.metadata.name}`, one]);
  const all = [
    ...OVERLAYS.flatMap((overlay) => titled(overlay, rendered(overlay))),
    ...JOBS.flatMap((job) => titled(`the Job of ${job}`, renderedJob(job))),
    ...EXAMPLES.flatMap((example) => titled(`the example ${example}`, renderedExample(example))),
  ];
  it.each(all)('%s', (_, manifest) => {
    expect(faultsOf(manifest)).toEqual([]);
  });

  it('the schema check detects a wrong type, a missing field and an unknown field', () => {
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

describe('the base', () => {
  it('contains the objects that an installation needs', () => {
    expect(production.map((one) => one.kind as string).sort()).toEqual([
      'ConfigMap',
      'ConfigMap',
      'CronJob',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'Job',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'PrometheusRule',
      'Service',
      'Service',
      'ServiceAccount',
      'ServiceMonitor',
    ]);
  });

  it.each(podSpecs)('%s: no root, no capabilities, a read-only file system, no cluster token', (_, pod) => {
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

  it.each(podSpecs)('%s: secrets are mounted files, never environment variables', (_, pod) => {
    const [container] = pod.containers;
    const mount = container.volumeMounts.find((one: any) => one.name === 'secrets').mountPath as string;
    for (const name of ['DATABASE_URL', 'JWT_SECRET', 'DATA_ENCRYPTION_KEY']) {
      expect(container.env).toContainEqual({ name: `${name}_FILE`, value: `${mount}/${name}` });
    }
    expect(JSON.stringify(pod)).not.toMatch(/secretKeyRef|secretRef/);
  });

  it('the service starts with the ConfigMap, the three secrets and the addresses of the ingress controller', () => {
    const secrets = {
      TRUSTED_PROXIES: '192.0.2.10',
      DATABASE_URL: 'mysql://user:password@db/portal',
      JWT_SECRET: testSettings.JWT_SECRET,
      DATA_ENCRYPTION_KEY: testSettings.DATA_ENCRYPTION_KEY,
    };
    const config = loadConfig({ ...kind('ConfigMap').data, ...secrets });
    const [container] = kind('Deployment').spec.template.spec.containers;
    const port = (name: string) => container.ports.find((one: any) => one.name === name).containerPort as number;
    expect(config).toMatchObject({
      production: true,
      http: { host: '0.0.0.0', port: port('http'), metricsPort: port('metrics') },
      database: { migrateOnStart: false },
    });
  });

  it.each(OVERLAYS)(
    '%s: the service does not start before the operator has said which addresses are those of the ingress controller',
    (overlay) => {
      const maps = rendered(overlay).filter((one) => one.kind === 'ConfigMap');
      expect(maps).toHaveLength(2);
      for (const { data } of maps) {
        const settings = {
          ...data,
          DATABASE_URL: 'mysql://user:password@db/portal',
          JWT_SECRET: testSettings.JWT_SECRET,
          DATA_ENCRYPTION_KEY: testSettings.DATA_ENCRYPTION_KEY,
        };
        const problem = /^TRUSTED_PROXIES must be a list of addresses or CIDR ranges such as 192\.0\.2\.0\/24, [^;]*$/;
        expect(() => loadConfig(settings)).toThrow(problem);
        expect(loadConfig({ ...settings, TRUSTED_PROXIES: '192.0.2.10' }).http.trustedProxies).toHaveLength(1);
      }
    },
  );

  it('the grace period covers the pause before SIGTERM and the 10 s that the drain may take', () => {
    const pod = kind('Deployment').spec.template.spec;
    const pauseMs = Number(/(\d+)\)$/.exec(pod.containers[0].lifecycle.preStop.exec.command.at(-1) as string)?.[1]);
    expect(pauseMs).toBeGreaterThanOrEqual(5000);
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(pauseMs + 10_000);
  });

  it('a rollout never reduces the number of replicas, and evictions reduce it by at most one', () => {
    expect(kind('Deployment').spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    expect(kind('Deployment').spec.replicas).toBeUndefined();
    expect(kind('PodDisruptionBudget').spec.maxUnavailable).toBe(1);
    expect(kind('HorizontalPodAutoscaler').spec.minReplicas).toBeGreaterThanOrEqual(2);
  });

  it('liveness does not use the database, and the readiness probe waits longer than the 5 s of an answer', () => {
    const { livenessProbe, startupProbe, readinessProbe } = kind('Deployment').spec.template.spec.containers[0];
    expect([livenessProbe, startupProbe].map(({ httpGet }) => httpGet.path)).toEqual(['/health/live', '/health/live']);
    expect(readinessProbe.httpGet.path).toBe('/health/ready');
    expect(readinessProbe.timeoutSeconds).toBeGreaterThan(5);
  });

  it('every selector matches the intended pods', () => {
    const labels = kind('Deployment').spec.template.metadata.labels;
    const services = production.filter((one) => one.kind === 'Service');
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
    // No Service may select a pod of a job.
    for (const { metadata } of jobs) expect(metadata.labels).not.toMatchObject(labels);
  });

  it('the ServiceMonitor finds the Service of the metrics', () => {
    const monitor = kind('ServiceMonitor');
    const service = production.find((one) => one.metadata.name === 'portal-authentication-metrics');
    expect(service.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
    expect(service.spec.ports[0].name).toBe(monitor.spec.endpoints[0].port);
    // All alerts select the metrics by this job.
    expect(service.metadata.labels[monitor.spec.jobLabel]).toBe('portal-authentication');
  });

  it('production contains the alerts, and staging contains no object of the Prometheus operator', () => {
    const { groups } = documents('deploy/monitoring/alerts.yaml')[0];
    expect(kind('PrometheusRule').spec.groups).toEqual(groups);
    expect(rendered('staging').every(isOfKubernetes)).toBe(true);
  });
});

describe('Dockerfile', () => {
  const stages = read('Dockerfile')
    .replace(/\\\n/g, ' ')
    .split(/^FROM /m)
    .slice(1);
  const [build, last] = [stages[0]!, stages.at(-1)!];

  it('has two stages of the same image, and builds only in the first', () => {
    expect(stages).toHaveLength(2);
    for (const stage of stages) expect(stage).toMatch(/^node:24-bookworm-slim\b/);
    expect(build).toContain('RUN npm ci\n');
    expect(last).not.toMatch(/npm (ci|install|run)|apt-get|g\+\+|python/);
  });

  it('the last stage contains only the files that the program loads', () => {
    expect(build.indexOf('runtime-files.mjs --into /runtime')).toBeGreaterThan(build.indexOf('npm run build'));
    expect(last.match(/^COPY .*$/gm)).toEqual(['COPY --from=build /runtime ./']);
  });

  it('runs Node as process 1, as a numeric user, in production, with a health check that needs no shell', () => {
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

  it('copies only files that exist and that .dockerignore allows', () => {
    const sent =
      read('.dockerignore')
        .match(/^!.*$/gm)
        ?.map((line) => line.slice(1)) ?? [];
    const copied = [...build.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) => names!.split(' '));
    expect(copied.length).toBeGreaterThan(8);
    for (const name of copied) expect(existsSync(join(ROOT, name)) ? '' : `${name} is missing`).toBe('');
    // Every file that .dockerignore allows is copied.
    expect([...sent].sort()).toEqual([...copied].sort());
    for (const name of ['test', 'data', 'docs', '.git']) expect(sent).not.toContain(name);
  });

  it('.dockerignore leaves out tests and what a build makes, and no file of the repository that the build needs', () => {
    const left = [...read('.dockerignore').matchAll(/^\*\*\/(.*)$/gm)].map(([, name]) => name!);
    const sources = ['packages', 'src', 'migrations', 'scripts', 'sdk', 'portal'].flatMap((folder) =>
      execFileSync('git', ['ls-files', folder], { cwd: ROOT, encoding: 'utf8' }).split('\n'),
    );
    const parts = new Set(sources.filter((file) => !file.endsWith('.spec.ts')).flatMap((file) => file.split('/')));
    expect(parts.size).toBeGreaterThan(300);
    expect(left.filter((name) => parts.has(name))).toEqual([]);
  });

  it('the image contains no secret and no setting that weakens security', () => {
    expect(read('Dockerfile')).not.toMatch(/SECRET|PASSWORD|KEY|TOKEN|MIGRATE_ON_START|RESET_RESPONSE/);
  });
});
