import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { documents, EXAMPLES, find, OVERLAYS, read, rendered, renderedExample, ROOT } from '../support/manifests';

const platform = renderedExample('platform');
const named = (kind: string, name: string): any =>
  platform.find((one) => one.kind === kind && one.metadata.name === name);
const ofCronJob = (name: string): any => named('CronJob', name).spec.jobTemplate.spec.template;

it('each component is part of an overlay or example, so its objects are checked', () => {
  const kustomizations = [...OVERLAYS.map((one) => `overlays/${one}`), ...EXAMPLES.map((one) => `examples/${one}`)];
  const used = kustomizations.flatMap(
    (folder) =>
      (documents('deploy/kustomize', folder, 'kustomization.yaml')[0].components as string[] | undefined) ?? [],
  );
  const components = readdirSync(join(ROOT, 'deploy/kustomize/components'));
  // Without pages of the service it is the same generated object with fewer paths, which is read below.
  const missing = components.filter((name) => name !== 'gateway-api' && !used.includes(`../../components/${name}`));
  expect(missing).toEqual([]);
  expect(readdirSync(join(ROOT, 'deploy/kustomize/examples')).sort()).toEqual([...EXAMPLES].sort());
});

describe('components/gateway-api', () => {
  interface Match {
    readonly path: { readonly type: 'Exact' | 'PathPrefix'; readonly value: string };
  }
  const routes = (component: string): any => documents('deploy/kustomize/components', component, 'http-route.yaml')[0];
  /** Each path with its kind and the service that it leads to. */
  const ofRoute = (route: any): string[] =>
    route.spec.rules.flatMap(({ matches, backendRefs }: { matches: Match[]; backendRefs: any[] }) =>
      matches.map(({ path }) => `${path.type} ${path.value} ${backendRefs[0].name}`),
    );
  const ofIngress = (overlay: 'production' | 'staging'): string[] =>
    find(rendered(overlay), 'Ingress').spec.rules[0].http.paths.map(
      (one: any) => `${one.pathType === 'Prefix' ? 'PathPrefix' : 'Exact'} ${one.path} ${one.backend.service.name}`,
    );

  it.each([
    ['gateway-api', 'production'],
    ['gateway-api-portal', 'staging'],
  ] as const)(
    'T230 %s leads the paths of the Ingress of %s to the same services, and no other',
    (component, overlay) => {
      expect(ofRoute(routes(component)).sort()).toEqual(ofIngress(overlay).sort());
    },
  );

  it('keeps the bounds of the Gateway API: 16 rules, 64 paths in a rule, and ports as numbers of the Services', () => {
    for (const component of ['gateway-api', 'gateway-api-portal']) {
      const { rules } = routes(component).spec;
      expect(rules.length).toBeLessThanOrEqual(16);
      for (const { matches, backendRefs } of rules) {
        expect(matches.length).toBeLessThanOrEqual(64);
        expect(backendRefs[0].port).toBe(80);
      }
    }
    expect(named('Service', 'portal-authentication').spec.ports[0].port).toBe(80);
  });

  it('no Ingress is left beside it, and the pods admit the gateway in place of the ingress controller', () => {
    expect(find(platform, 'Ingress')).toBeUndefined();
    const { from, ports } = named('NetworkPolicy', 'portal-authentication').spec.ingress[0];
    expect(from).toEqual([{ namespaceSelector: { matchLabels: { 'portal-authentication-gateway': 'true' } } }]);
    expect(ports).toEqual([{ port: 'http', protocol: 'TCP' }]);
    expect(read('docs/operations/kubernetes.md')).toContain('portal-authentication-gateway=true');
  });
});

describe('components/external-secrets', () => {
  const secrets = platform.filter((one) => one.kind === 'ExternalSecret');

  it('makes each Secret that a pod mounts, with each key that it reads, before the pods', () => {
    const pods = [
      named('Deployment', 'portal-authentication').spec.template,
      find(platform, 'Job').spec.template,
      ofCronJob('portal-authentication-purge'),
    ];
    for (const { spec } of pods) {
      const { secretName } = spec.volumes.find((one: any) => one.name === 'secrets').secret;
      const made = secrets.find((one) => one.spec.target.name === secretName);
      const keys = made.spec.data.map(({ secretKey }: any) => secretKey as string);
      const files = spec.containers[0].env.filter((one: any) => one.name.endsWith('_FILE'));
      expect(files.map((one: any) => one.value.split('/').at(-1)).sort()).toEqual(keys.sort());
      expect(made.metadata.annotations['argocd.argoproj.io/sync-wave']).toBe('-3');
    }
  });

  it('the keys of the service and of its Jobs are the same entries of the store, and the accounts are not', () => {
    const entry = (secret: any, key: string) => secret.spec.data.find((one: any) => one.secretKey === key).remoteRef;
    const [pods, jobs] = secrets;
    for (const key of ['JWT_SECRET', 'DATA_ENCRYPTION_KEY']) expect(entry(pods, key)).toEqual(entry(jobs, key));
    expect(entry(pods, 'DATABASE_URL')).not.toEqual(entry(jobs, 'DATABASE_URL'));
  });

  it('a store that has lost an entry does not take the Secret away', () => {
    for (const { spec } of secrets) expect(spec.target.deletionPolicy).toBe('Retain');
  });
});

it('components/registry-credentials: every pod uses the ServiceAccount that has them', () => {
  const account = find(platform, 'ServiceAccount');
  expect(account.imagePullSecrets).toEqual([{ name: 'portal-authentication-registry' }]);
  const pods = JSON.stringify(platform).match(/"serviceAccountName":"[^"]+"/g)!;
  expect(pods.length).toBeGreaterThanOrEqual(5);
  for (const pod of pods) expect(pod).toContain(`"${account.metadata.name}"`);
  expect(read('deploy/kustomize/jobs/base/job.yaml')).toContain(`serviceAccountName: ${account.metadata.name}`);
});

describe('components/backup', () => {
  const jobs = ['portal-authentication-backup', 'portal-authentication-restore-test'];

  it.each(jobs)('%s: no root, no capabilities, a read-only file system, no cluster token', (name) => {
    const { spec } = ofCronJob(name);
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(spec.containers[0].resources.limits.memory).toBeDefined();
  });

  it.each(jobs)('%s runs a script of the ConfigMap, with each setting that the script demands', (name) => {
    const { containers, volumes } = ofCronJob(name).spec;
    const [{ command, env, volumeMounts }] = containers;
    const [, file] = /^\/scripts\/(.+)$/.exec(command[1] as string)!;
    expect(command).toEqual(['bash', `/scripts/${file}`]);
    const { configMap } = volumes.find((one: any) => one.name === 'scripts');
    const script = named('ConfigMap', configMap.name as string).data[file!] as string;
    expect(script).toBe(read('deploy/kustomize/components/backup', file!));
    const demanded = [...script.matchAll(/"\$([A-Z_]+)"|\$([A-Z_]+)\//g)].map(([, a, b]) => a ?? b);
    expect(env.map((one: any) => one.name)).toEqual(expect.arrayContaining([...new Set(demanded)]));
    for (const { value } of env.filter((one: any) => one.value.startsWith('/') && one.name !== 'NODE_EXTRA_CA_CERTS'))
      expect(volumeMounts.some(({ mountPath }: any) => value.startsWith(mountPath))).toBe(true);
  });

  it('the restore test has no network and no Secret, and cannot change a backup', () => {
    const { metadata, spec } = ofCronJob('portal-authentication-restore-test');
    const policy = named('NetworkPolicy', 'portal-authentication-restore-test').spec;
    expect(metadata.labels).toMatchObject(policy.podSelector.matchLabels);
    expect(policy).toEqual({ podSelector: policy.podSelector, policyTypes: ['Ingress', 'Egress'] });
    expect(spec.volumes.filter((one: any) => one.secret)).toEqual([]);
    const others = named('NetworkPolicy', 'portal-authentication').spec.podSelector.matchExpressions[0].values;
    expect(others).toContain('backup');
    expect(others).not.toContain('restore-test');
    expect(spec.containers[0].volumeMounts.find((one: any) => one.name === 'backups').readOnly).toBe(true);
  });

  it('no Service sends a request to its pods, and removing the component keeps the backups', () => {
    const selectors = platform.flatMap((one) => (one.kind === 'Service' ? [one.spec.selector] : []));
    for (const name of jobs)
      for (const selector of selectors) expect(ofCronJob(name).metadata.labels).not.toMatchObject(selector);
    const { annotations } = find(platform, 'PersistentVolumeClaim').metadata;
    expect(annotations['argocd.argoproj.io/sync-options']).toBe('Prune=false');
    expect(annotations['kustomize.toolkit.fluxcd.io/prune']).toBe('disabled');
  });

  it('the page makes the Secret that the CronJob mounts', () => {
    const { volumes } = ofCronJob('portal-authentication-backup').spec;
    const { secretName } = volumes.find((one: any) => one.name === 'account').secret;
    expect(read('docs/operations/backup.md')).toContain(`create secret generic ${secretName} --from-file=client.cnf=`);
  });
});

describe('components/client and client-egress', () => {
  const client = renderedExample('client');
  const { labels } = find(client, 'Deployment').spec.template.metadata;

  it('the pods of the caller have the label that the NetworkPolicy of the service admits', () => {
    const admitted = find(rendered('production'), 'NetworkPolicy').spec.ingress.flatMap(({ from }: any) =>
      from.map(({ podSelector }: any) => podSelector?.matchLabels),
    );
    expect(admitted).toContainEqual({ 'portal-authentication-client': 'true' });
    expect(labels['portal-authentication-client']).toBe('true');
  });

  it('they may reach the pods of the service at their port, and DNS, and nothing else', () => {
    const { podSelector, policyTypes, egress } = find(client, 'NetworkPolicy').spec;
    expect(labels).toMatchObject(podSelector.matchLabels);
    expect(policyTypes).toEqual(['Egress']);
    const deployment = find(rendered('production'), 'Deployment');
    const [{ to, ports }, dns] = egress;
    expect(deployment.spec.template.metadata.labels).toMatchObject(to[0].podSelector.matchLabels);
    expect(to[0].namespaceSelector.matchLabels['kubernetes.io/metadata.name']).toBe(deployment.metadata.namespace);
    const [http] = deployment.spec.template.spec.containers[0].ports;
    expect(ports).toEqual([{ port: http.containerPort, protocol: 'TCP' }]);
    expect(dns.ports.map(({ port }: any) => port)).toEqual([53, 53]);
    expect(egress).toHaveLength(2);
  });

  it('every Service is a ClusterIP: nothing but the Ingress or a gateway leads from outside to the pods', () => {
    for (const overlay of OVERLAYS)
      for (const { kind, spec } of rendered(overlay))
        if (kind === 'Service') expect(spec.type ?? 'ClusterIP').toBe('ClusterIP');
  });
});
