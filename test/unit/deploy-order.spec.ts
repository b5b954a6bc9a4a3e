import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/settings/app-config';
import { find, OVERLAYS, podSpecsOf, read, rendered, ROOT } from '../support/manifests';

describe('the order of a first installation', () => {
  const waveOf = (one: any) => Number(one.metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0);
  /** Secrets that the operator creates first, with the commands of docs/operations/kubernetes.md. */
  const byHand = [...read('docs/operations/kubernetes.md').matchAll(/create secret generic (\S+)/g)].map(
    ([, name]) => `Secret ${name}`,
  );
  const podOf = (one: any) => one.spec?.jobTemplate?.spec.template.spec ?? one.spec?.template?.spec;
  const needsOf = (one: any): string[] => {
    const pod = podOf(one);
    const target = one.spec?.scaleTargetRef;
    return [
      ...(target ? [`${target.kind} ${target.name}`] : []),
      ...(pod ? [`ServiceAccount ${pod.serviceAccountName}`] : []),
      ...(pod?.containers ?? []).flatMap(({ envFrom = [] }: any) =>
        envFrom.map(({ configMapRef }: any) => `ConfigMap ${configMapRef.name}`),
      ),
      ...(pod?.volumes ?? []).map(({ secret }: any) => `Secret ${secret.secretName}`),
    ];
  };

  it.each(OVERLAYS)('%s: each wave finds what it needs, and the pods start after the migration', (overlay) => {
    const objects = rendered(overlay);
    const waves = new Map(objects.map((one) => [`${one.kind} ${one.metadata.name}`, waveOf(one)]));
    if (overlay !== 'staging') for (const name of byHand) waves.set(name, -Infinity);
    for (const one of objects) {
      for (const need of needsOf(one)) {
        const wave = waves.get(need) ?? Infinity;
        // What a pod needs must be in an earlier wave. The autoscaler may be in the wave of its Deployment.
        const inTime = podOf(one) ? wave < waveOf(one) : wave <= waveOf(one);
        expect({ of: one.kind, need, inTime }).toEqual({ of: one.kind, need, inTime: true });
      }
    }
    expect(waveOf(find(objects, 'Job'))).toBeLessThan(waveOf(find(objects, 'Deployment')));
    // The NetworkPolicy exists before the first pod starts.
    expect(waveOf(find(objects, 'NetworkPolicy'))).toBeLessThan(waveOf(find(objects, 'Job')));
  });

  it.each(OVERLAYS)(
    '%s: a Job is never changed in place: its name follows the image, and its inputs have fixed names',
    (overlay) => {
      const job = find(rendered(overlay), 'Job');
      const tag = job.spec.template.spec.containers[0].image.split(':').at(-1) as string;
      expect(job.metadata.name).toBe(`portal-authentication-migrate-${tag}`);
      expect(job.spec.template.spec.containers[0].image).toBe(podSpecsOf(rendered(overlay))[0]![1].containers[0].image);
      expect(needsOf(job)).toEqual([
        'ServiceAccount portal-authentication',
        'ConfigMap portal-authentication-migration',
        'Secret portal-authentication-migration',
      ]);
      // If an operator changes the Job nevertheless, Argo CD and Flux delete it and create it again.
      expect(job.metadata.annotations).toMatchObject({
        'argocd.argoproj.io/hook': 'Sync',
        'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
        'kustomize.toolkit.fluxcd.io/force': 'enabled',
      });
    },
  );

  it.each(OVERLAYS)('%s: a change of settings or secrets restarts the pods', (overlay) => {
    const objects = rendered(overlay);
    const deployment = find(objects, 'Deployment');
    const needs = needsOf(deployment).join();
    expect(needs).toMatch(/ConfigMap portal-authentication-[a-z0-9]{10}\b/);
    if (overlay === 'staging') expect(needs).toMatch(/Secret portal-authentication-[a-z0-9]{10}\b/);
    else expect(deployment.spec.template.metadata.annotations['secrets-revision']).toBeDefined();
    // The migration has a ConfigMap of its own with the same settings.
    const [first, second] = objects.filter((one) => one.kind === 'ConfigMap');
    expect(first.data).toEqual(second.data);
  });

  it('the service does not start with the example secrets', () => {
    const secret = find(rendered('staging'), 'Secret');
    const values = Object.entries(secret.data).map(([name, value]) => [
      name,
      Buffer.from(String(value), 'base64').toString(),
    ]);
    expect(values.map(([name]) => name).sort()).toEqual(['DATABASE_URL', 'DATA_ENCRYPTION_KEY', 'JWT_SECRET']);
    for (const [name, value] of values) {
      const good = {
        TRUSTED_PROXIES: '192.0.2.10',
        DATABASE_URL: 'mysql://user:password@db/portal',
        JWT_SECRET: 'x'.repeat(32),
        DATA_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
      };
      expect(() => loadConfig({ ...find(rendered('production'), 'ConfigMap').data, ...good, [name!]: value })).toThrow(
        name,
      );
    }
  });
});

describe('the pages and the autoscaler', () => {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = ['README.md', ...docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];
  const scaled = new Set(
    OVERLAYS.map((overlay) => find(rendered(overlay), 'HorizontalPodAutoscaler').spec.scaleTargetRef.name as string),
  );
  /** The autoscaler undoes each other number at once. It leaves 0 alone, until somebody sets another number. */
  const fights = (page: string) => {
    let replicas = NaN;
    return [...page.matchAll(/kubectl[^\n`]* scale [^\n`]*deploy(?:ment)?[/ ](\S+)[^\n`]*--replicas=(\d+)/g)].flatMap(
      ([command, name, number]) => {
        const before = replicas;
        replicas = Number(number);
        return scaled.has(name!) && replicas !== 0 && before !== 0 ? [command] : [];
      },
    );
  };

  it.each(pages)('%s scales no Deployment that has an autoscaler, but to 0 and from 0', (page) => {
    expect(fights(read(page))).toEqual([]);
  });

  it('the search finds a command that the autoscaler undoes', () => {
    const to = (number: number) => `kubectl -n portal scale deployment/portal-authentication --replicas=${number}\n`;
    expect(fights(to(6))).toHaveLength(1);
    expect(fights(`${to(0)}${to(2)}${to(6)}`)).toEqual([to(6).trim()]);
    expect(fights('kubectl scale deployment/somebody-else --replicas=6')).toEqual([]);
  });
});
