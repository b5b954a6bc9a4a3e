import { join } from 'node:path';
import { readAdoptionPlan } from '../../src/cli/adoption/adoption-plan';
import { documents, faultsOf, find, JOBS, OVERLAYS, read, renderedJob, rendered, ROOT } from '../support/manifests';
import { parse } from 'yaml';

describe.each(JOBS)('the Job of %s', (name) => {
  const job = find(renderedJob(name), 'Job');
  const pod = job.spec.template.spec;
  const [container] = pod.containers;

  it('has the settings, the Secret and the network of the migration Job, and is no part of an overlay', () => {
    const migration = find(rendered('production'), 'Job').spec.template;
    const own = migration.spec.containers[0];
    expect([container.image, container.envFrom, container.env]).toEqual([own.image, own.envFrom, own.env]);
    expect(job.spec.template.metadata.labels).toMatchObject(migration.metadata.labels);
    expect(pod.volumes).toContainEqual(migration.spec.volumes[0]);
    expect(job.metadata.namespace).toBe(find(rendered('production'), 'Job').metadata.namespace);
    for (const overlay of OVERLAYS)
      expect(rendered(overlay).map((one) => one.metadata.name)).not.toContain(job.metadata.name);
  });
});

describe.each(['adopt', 'config-apply', 'import'] as const)('the Job of %s', (name) => {
  const objects = renderedJob(name);
  const pod = find(objects, 'Job').spec.template.spec;
  const [container] = pod.containers;

  it('reads the file that is mounted from the object that is applied with it', () => {
    const mount = container.volumeMounts.find((one: any) => one.name === 'input');
    const { secret, configMap } = pod.volumes.find((one: any) => one.name === 'input');
    const source = find(objects, secret ? 'Secret' : 'ConfigMap');
    expect(source.metadata.name).toBe(secret?.secretName ?? configMap.name);
    expect(mount.readOnly).toBe(true);
    for (const file of Object.keys(source.data)) expect(container.args).toContain(`${mount.mountPath}/${file}`);
    // Rows have hashes of passwords.
    expect(secret !== undefined).toBe(name === 'import');
  });

  it('checks only, until the operator has read the report', () => {
    expect(container.command).toEqual(['node', 'dist/src/cli.js']);
    expect(container.args).toContain('--dry-run');
  });
});

it('the Job of config-apply mounts every secret that its file refers to from one Secret, and the page makes it', () => {
  const pod = find(renderedJob('config-apply'), 'Job').spec.template.spec;
  const volume = pod.volumes.find((one: any) => one.secret?.secretName === 'portal-authentication-installation');
  const mount = pod.containers[0].volumeMounts.find((one: any) => one.name === volume.name);
  const file = find(renderedJob('config-apply'), 'ConfigMap').data['installation.yaml'] as string;
  const references = [...file.matchAll(/_secret: (.*)/g)].map((match) => match[1]!);
  expect(references.length).toBeGreaterThan(0);
  const page = read('docs/operations/configuration-as-code.md');
  expect(page).toContain('create secret generic portal-authentication-installation');
  for (const reference of references) {
    const [, name] = new RegExp(`^file:${mount.mountPath}/(\\w+)$`).exec(reference)!;
    expect(page).toContain(`--from-literal=${name}=`);
  }
});

it('the example of a plan is a plan', async () => {
  const plan = await readAdoptionPlan(join(ROOT, 'deploy/kustomize/jobs/adopt/plan.json'));
  expect(plan.source).toEqual(['legacy', 'users']);
});

describe('components/private-authority', () => {
  const [{ patches }] = documents('deploy/kustomize/components/private-authority/kustomization.yaml');
  const kinds = ['Deployment', 'Job', 'CronJob'];

  /** What kustomize does with the patches: each of them adds to the end of a list. */
  function patched(kind: string): any {
    const object = find(rendered('production'), kind);
    const { patch } = patches.find(({ target }: any) => (target.kind as string).split('|').includes(kind));
    for (const { op, path, value } of parse(patch) as { op: string; path: string; value: unknown }[]) {
      expect({ op, end: path.slice(-2) }).toEqual({ op: 'add', end: '/-' });
      const steps = path.slice(1, -2).split('/');
      (steps.reduce((inner: any, step) => inner[step], object) as unknown[]).push(value);
    }
    return object;
  }

  it.each(kinds)('%s: Node finds the file of the ConfigMap, and Kubernetes knows every field', (kind) => {
    const object = patched(kind);
    const { containers, volumes } = (object.spec.jobTemplate ?? object).spec.template.spec;
    const [{ env, volumeMounts }] = containers;
    const volume = volumes.find((one: any) => one.configMap?.name === 'portal-authentication-authorities');
    const mount = volumeMounts.find((one: any) => one.name === volume.name);
    expect(env).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: `${mount.mountPath}/ca.pem` });
    expect(faultsOf(object)).toEqual([]);
  });

  it('the page makes the ConfigMap and names the path', () => {
    const page = read('docs/operations/kubernetes.md');
    expect(page).toContain('create configmap portal-authentication-authorities --from-file=ca.pem=');
    expect(page).toContain('`/etc/portal-authentication/authorities/ca.pem`');
  });
});
