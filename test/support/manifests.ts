import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const ROOT = resolve(__dirname, '../..');
export const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8');
export const documents = (...path: string[]): any[] => parseAllDocuments(read(...path)).map((one) => one.toJS());

/** The output of kustomize for the example overlays. `node deploy/render.mjs` writes it. */
export const OVERLAYS = ['production', 'staging', 'openshift'] as const;
export type Overlay = (typeof OVERLAYS)[number];
export const rendered = (overlay: Overlay): any[] => documents('deploy/rendered', `${overlay}.yaml`);
/** The Jobs of deploy/kustomize/jobs, which an operator applies by hand. */
export const JOBS = ['adopt', 'config-apply', 'import', 'maintenance', 'upgrade-check'] as const;
/** deploy/kustomize/examples: overlays with the components that OVERLAYS do not show. */
export const EXAMPLES = ['client', 'platform'] as const;
export const renderedExample = (example: (typeof EXAMPLES)[number]): any[] =>
  documents('deploy/rendered', `example-${example}.yaml`);
export function renderedJob(job: (typeof JOBS)[number]): any[] {
  const objects = documents('deploy/rendered', `job-${job}.yaml`);
  // kustomize breaks the lines of base64. Kubernetes ignores the breaks, and the schema does not.
  for (const { kind, data } of objects)
    if (kind === 'Secret') for (const key of Object.keys(data)) data[key] = data[key].replace(/\s/g, '');
  return objects;
}

export const find = (objects: any[], kind: string): any => objects.find((one) => one.kind === kind);

export const podSpecsOf = (objects: any[]): [string, any][] => [
  ['Deployment', find(objects, 'Deployment').spec.template.spec],
  ['Job', find(objects, 'Job').spec.template.spec],
  ['CronJob', find(objects, 'CronJob').spec.jobTemplate.spec.template.spec],
];

/** The schemas of the Prometheus operator, the Gateway API and External Secrets are not available. */
export const isOfKubernetes = (one: any): boolean =>
  !/^(?:monitoring\.coreos\.com|gateway\.networking\.k8s\.io|external-secrets\.io)\//.test(one.apiVersion as string);

/**
 * The compiled schemas report wrong types and missing fields, and ignore unknown fields. They read only the fields that they
 * know, so a field that was not read is unknown to Kubernetes.
 */
export function faultsOf(manifest: any): string[] {
  // `kubernetes-models` is a package of tools/.
  const require = createRequire(join(ROOT, 'tools/package.json'));
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

/** Paths of the fields that were not read. The fields below an unread field are not listed. */
function unreadBelow(value: any, path: string, seen: ReadonlySet<string>): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((key) => {
    const below = path === '' ? key : `${path}.${key}`;
    return seen.has(below) ? unreadBelow(value[key], below, seen) : [below];
  });
}
