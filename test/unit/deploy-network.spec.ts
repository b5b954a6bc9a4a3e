import { paths } from '../../portal/src/paths';
import { find, podSpecsOf, read, rendered } from '../support/manifests';

describe('the ingress', () => {
  const ingress = find(rendered('production'), 'Ingress');
  const rules = ingress.spec.rules[0].http.paths as any[];
  /** Finds the backend as Kubernetes does: an exact path first, then the longest prefix, by whole path elements. */
  const backendOf = (path: string): string => {
    const exact = rules.find((one) => one.pathType === 'Exact' && one.path === path);
    const prefixes = rules
      .filter((one) => one.pathType === 'Prefix' && `${path}/`.startsWith(`${one.path.replace(/\/$/, '')}/`))
      .sort((a, b) => b.path.length - a.path.length);
    return (exact ?? prefixes[0]).backend.service.name as string;
  };

  const documented = Object.keys((JSON.parse(read('openapi.json')) as { paths: object }).paths);
  const fromOutside = documented.filter((path) => path !== '/introspect');

  it.each([...fromOutside, '/.well-known/jwks.json'])('%s is routed to the service', (path) => {
    expect(backendOf(path.replace(/\{\w+\}/g, '1f9a'))).toBe('portal-authentication');
  });

  it('/introspect cannot be reached from outside: the services that ask are in the cluster', () => {
    expect(documented).toContain('/introspect');
    expect(backendOf('/introspect')).toBe('portal-pages');
  });

  it.each(Object.values(paths))('%s is routed to the pages', (path) => {
    expect(backendOf(path)).toBe('portal-pages');
  });

  it.each(['/health', '/health/live', '/health/ready', '/metrics', '/docs', '/docs/x', '/openapi.json', '/loginx'])(
    'T230 %s does not reach the service',
    (path) => {
      expect(backendOf(path)).toBe('portal-pages');
    },
  );

  it('has only annotations that ingress-nginx knows, and only paths that are used', () => {
    const known = ['proxy-read-timeout', 'proxy-body-size', 'proxy-next-upstream'];
    const names = Object.keys(ingress.metadata.annotations).map((name) => name.split('/')[1]);
    expect(names.filter((name) => !known.includes(name!))).toEqual([]);
    const used = [...documented, '/.well-known/jwks.json', '/'].map((path) => path.split('/').slice(0, 2).join('/'));
    for (const { path } of rules) expect(used).toContain(path.split('/').slice(0, 2).join('/'));
    expect(ingress.spec.tls[0].hosts).toEqual([ingress.spec.rules[0].host]);
    expect(JSON.stringify(rules)).not.toContain('portal-authentication-metrics');
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
