import { paths } from '../../portal/src/paths';
import { find, OVERLAYS, podSpecsOf, read, rendered, renderedJob } from '../support/manifests';

/** Finds the backend as Kubernetes does: an exact path first, then the longest prefix, by whole path elements. */
function backendIn(rules: readonly any[], path: string): string | undefined {
  const exact = rules.find((one) => one.pathType === 'Exact' && one.path === path);
  const prefixes = rules
    .filter((one) => one.pathType === 'Prefix' && `${path}/`.startsWith(`${one.path.replace(/\/$/, '')}/`))
    .sort((a, b) => b.path.length - a.path.length);
  return (exact ?? prefixes[0])?.backend.service.name as string | undefined;
}

const pathsOf = (overlay: (typeof OVERLAYS)[number]) => find(rendered(overlay), 'Ingress').spec.rules[0].http.paths;

describe('the ingress', () => {
  const ingress = find(rendered('production'), 'Ingress');
  const rules = ingress.spec.rules[0].http.paths as any[];
  const backendOf = (path: string) => backendIn(rules, path);

  const documented = Object.keys((JSON.parse(read('openapi.json')) as { paths: object }).paths);
  const fromOutside = documented.filter((path) => path !== '/introspect');

  it.each([...fromOutside, '/.well-known/jwks.json', '/brand/1f9a.png'])('%s is routed to the service', (path) => {
    expect(backendOf(path.replace(/\{\w+\}/g, '1f9a'))).toBe('portal-authentication');
  });

  it('/introspect cannot be reached from outside: the services that ask are in the cluster', () => {
    expect(documented).toContain('/introspect');
    expect(backendOf('/introspect')).toBe('portal-pages');
  });

  it.each(Object.values(paths))('%s is routed to the pages', (path) => {
    expect(backendOf(path)).toBe('portal-pages');
  });

  it.each([
    '/health',
    '/health/live',
    '/health/ready',
    '/metrics',
    '/docs',
    '/docs/x',
    '/openapi.json',
    '/openapi-3.0.json',
    '/loginx',
  ])('T230 %s does not reach the service', (path) => {
    expect(backendOf(path)).toBe('portal-pages');
  });

  it('lets the largest body of a route through, which is a file of users', () => {
    const [, mebibytes] = /const largestFile = (\d+) \* 1024 \* 1024;/.exec(
      read('src/admin/http/user-bulk.controller.ts'),
    )!;
    expect(ingress.metadata.annotations['nginx.ingress.kubernetes.io/proxy-body-size']).toBe(`${mebibytes}m`);
  });

  it('has only annotations that ingress-nginx knows, and only paths that are used', () => {
    const known = ['proxy-read-timeout', 'proxy-body-size', 'proxy-next-upstream'];
    const names = Object.keys(ingress.metadata.annotations).map((name) => name.split('/')[1]);
    expect(names.filter((name) => !known.includes(name!))).toEqual([]);
    const used = [...documented, '/.well-known/jwks.json', '/brand', '/oidc', '/scim', '/'].map((path) =>
      path.split('/').slice(0, 2).join('/'),
    );
    for (const { path } of rules) expect(used).toContain(path.split('/').slice(0, 2).join('/'));
    expect(ingress.spec.tls[0].hosts).toEqual([ingress.spec.rules[0].host]);
    expect(JSON.stringify(rules)).not.toContain('portal-authentication-metrics');
  });
});

describe.each(OVERLAYS)('the ingress of %s', (overlay) => {
  it('leads neither /introspect nor the paths of the operator to the service', () => {
    for (const path of ['/introspect', '/health/ready', '/metrics', '/docs', '/openapi.json', '/openapi-3.0.json']) {
      expect([path, backendIn(pathsOf(overlay), path)]).not.toEqual([path, 'portal-authentication']);
    }
  });

  it('T370 leads /verify to the service, and not to pages that answer 200 for every path', () => {
    expect(backendIn(pathsOf(overlay), '/verify')).toBe('portal-authentication');
  });

  // Only the demo serves /outbox.
  const pages = Object.values(paths).filter((path) => path !== paths.outbox);
  it.each(pages)('the page %s is led to whoever serves the pages', (path) => {
    const own = find(rendered(overlay), 'ConfigMap').data.PORTAL === 'on';
    expect(backendIn(pathsOf(overlay), path)).toBe(own ? 'portal-authentication' : 'portal-pages');
  });
});

describe.each(OVERLAYS)('the NetworkPolicy of %s: who reaches a pod of the service', (overlay) => {
  const objects = rendered(overlay);
  const policy = find(objects, 'NetworkPolicy');
  const own = policy.metadata.namespace as string;
  const label = { 'portal-authentication-client': 'true' };

  interface Namespace {
    readonly name: string;
    readonly labels?: Record<string, string>;
  }
  /** The ports that a pod may connect to, by the rules of networking.k8s.io/v1. */
  const reached = (namespace: Namespace, pod: Record<string, string> = {}): string[] => {
    const labels: Record<string, string> = { 'kubernetes.io/metadata.name': namespace.name, ...namespace.labels };
    const has = (wanted: any, given: Record<string, string>) => {
      expect(Object.keys(wanted)).toEqual(['matchLabels']);
      return Object.entries(wanted.matchLabels).every(([key, value]) => given[key] === value);
    };
    const admits = (from: any) =>
      (from.namespaceSelector === undefined ? namespace.name === own : has(from.namespaceSelector, labels)) &&
      (from.podSelector === undefined || has(from.podSelector, pod));
    return policy.spec.ingress.flatMap(({ from, ports }: any) =>
      from.some(admits) ? ports.map(({ port }: any) => port as string) : [],
    );
  };

  it('a service behind the portal: a labelled pod in a labelled namespace, or in the namespace of the service', () => {
    expect(reached({ name: 'invoices', labels: label }, label)).toEqual(['http']);
    expect(reached({ name: own }, label)).toEqual(['http']);
    // What it calls by name are the pods that the policy is about, at the port that the rule allows.
    const service = objects.find((one) => one.kind === 'Service' && one.metadata.name === 'portal-authentication');
    expect(service.spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    expect(find(objects, 'Deployment').spec.template.metadata.labels).toMatchObject(service.spec.selector);
    expect(policy.spec.podSelector.matchExpressions[0].values).toContain('server');
  });

  it('nobody who can only label pods, or only a namespace, and no pod without the label', () => {
    expect(reached({ name: 'invoices' }, label)).toEqual([]);
    expect(reached({ name: 'invoices', labels: label })).toEqual([]);
    expect(reached({ name: 'invoices', labels: label }, { 'portal-authentication-client': 'false' })).toEqual([]);
    expect(reached({ name: own })).toEqual([]);
  });

  it('`upgrade --check` asks each replica for its version, and other Jobs ask nothing', () => {
    const job = (component: string) => ({
      'app.kubernetes.io/name': 'portal-authentication',
      'app.kubernetes.io/component': component,
    });
    expect(find(renderedJob('upgrade-check'), 'Job').spec.template.metadata.labels).toEqual(job('migration'));
    expect(reached({ name: own }, job('migration'))).toEqual(['metrics']);
    expect(reached({ name: own }, job('purge'))).toEqual([]);
    expect(reached({ name: 'invoices' }, job('migration'))).toEqual([]);
    const metrics = objects.find(
      (one) => one.kind === 'Service' && one.metadata.name === 'portal-authentication-metrics',
    );
    const rule = policy.spec.egress.find(({ ports }: any) => ports.some(({ port }: any) => port === 'metrics'));
    expect(rule.to).toEqual([{ podSelector: { matchLabels: metrics.spec.selector } }]);
  });

  it('the ingress controller and Prometheus, each at its own port', () => {
    const openshift = overlay === 'openshift';
    const ingress = openshift
      ? { name: 'openshift-ingress', labels: { 'policy-group.network.openshift.io/ingress': '' } }
      : { name: 'ingress-nginx' };
    expect(reached(ingress)).toEqual(['http']);
    expect(reached({ name: openshift ? 'openshift-user-workload-monitoring' : 'monitoring' })).toEqual(['metrics']);
  });
});

describe('behind the NetworkPolicy', () => {
  const egress = (overlay: 'production' | 'openshift') => find(rendered(overlay), 'NetworkPolicy').spec.egress as any[];
  const portsTo = (rules: any[], wanted: (to: any) => boolean) =>
    rules
      .filter(({ to = [] }) => to.some(wanted))
      .flatMap(({ ports }) => ports.map(({ port, protocol }: any) => `${port}/${protocol}`));

  it('kube-dns, NodeLocal DNSCache and the DNS of OpenShift can be reached', () => {
    const kubeDns = (to: any) => to.podSelector?.matchLabels['k8s-app'] === 'kube-dns';
    const nodeLocal = (to: any) => to.ipBlock?.cidr === '169.254.20.10/32';
    const openshift = (to: any) =>
      to.namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name'] === 'openshift-dns';
    for (const overlay of ['production', 'openshift'] as const) {
      expect(portsTo(egress(overlay), kubeDns)).toEqual(['53/UDP', '53/TCP']);
      expect(portsTo(egress(overlay), nodeLocal)).toEqual(['53/UDP', '53/TCP']);
    }
    expect(portsTo(egress('openshift'), openshift)).toEqual(['5353/UDP', '5353/TCP']);
  });

  it.each(podSpecsOf(rendered('openshift')))(
    'OpenShift: %s does not set user and group, and is never root',
    (_, pod) => {
      expect(pod.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    },
  );
});
