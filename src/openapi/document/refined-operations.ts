import type { OpenAPIObject } from '@nestjs/swagger';
import { errorExamples } from './error-schemas';
import { type JsonSchema, nameOf, referencesIn } from './json-schema';
import { addExamples, type ExampledOperation } from './operation-examples';
import type { RecordedExamples } from './recorded-examples';

interface Components {
  schemas: Record<string, JsonSchema>;
  examples?: Record<string, object>;
  headers?: object;
}

interface Operation extends ExampledOperation {
  readonly operationId: string;
  security?: readonly object[];
  readonly responses: Record<string, ExampledOperation['responses'][string] & { headers?: object }>;
}

type Path = Record<string, Operation>;

/** The order of the operations of a path. */
const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
const retryAfter = { $ref: '#/components/headers/RetryAfter' };

/**
 * Adds the parts that the decorators of the routes do not declare: empty `security`, `Retry-After` headers and
 * examples.
 */
export function refineOperations(document: OpenAPIObject, recorded: RecordedExamples): void {
  const components = (document.components ??= {}) as Components;
  components.headers = {
    RetryAfter: { description: 'Seconds to wait (RFC 9110 §10.2.3).', schema: { type: 'integer', minimum: 1 } },
  };
  components.examples = errorExamples();
  const paths = document.paths as unknown as Record<string, Path>;
  for (const [name, path] of Object.entries(paths)) {
    const ordered = methods.flatMap((method) => (path[method] === undefined ? [] : [[method, path[method]] as const]));
    for (const [method, operation] of ordered) {
      refine(operation, method);
      addExamples(operation, recorded[operation.operationId] ?? [], components.schemas);
    }
    paths[name] = Object.fromEntries(ordered);
  }
  dropUnused(document, components);
}

function refine(operation: Operation, method: (typeof methods)[number]): void {
  // An empty list means that no token is needed. Without a list the security of the document would apply.
  operation.security ??= [];
  // A GET has no body, so these errors about the body cannot occur.
  if (method === 'get') {
    delete operation.responses['413'];
    delete operation.responses['415'];
  }
  for (const status of ['429', '503']) {
    const answer = operation.responses[status];
    if (answer !== undefined) answer.headers = { 'Retry-After': retryAfter };
  }
}

/** Removes schemas and examples that no operation uses, for example those for an unknown path and a wrong method. */
function dropUnused(document: OpenAPIObject, { schemas, examples = {} }: Components): void {
  const used = new Set<string>();
  const visit = (node: unknown): void => {
    for (const reference of referencesIn(node)) {
      if (used.has(reference)) continue;
      used.add(reference);
      visit(schemas[nameOf(reference)]);
    }
  };
  visit(document.paths);
  for (const [kind, parts] of Object.entries({ schemas, examples })) {
    for (const name of Object.keys(parts)) if (!used.has(`#/components/${kind}/${name}`)) delete parts[name];
  }
}
