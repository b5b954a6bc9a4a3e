import type { OpenAPIObject } from '@nestjs/swagger';
import { exampleOf } from './examples';
import { type JsonSchema, nameOf, referencesIn, resolved, type Schemas } from './json-schema';

type Operation = NonNullable<OpenAPIObject['paths'][string]['post']>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface JsonContent {
  schema: JsonSchema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface Answer {
  headers?: Record<string, object>;
  content?: { 'application/json'?: JsonContent };
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
const retryAfter = { $ref: '#/components/headers/RetryAfter' };

/**
 * Adds the parts that the decorators of the routes do not declare: empty `security`, `Retry-After` headers and
 * examples.
 */
export function refineOperations(document: OpenAPIObject): void {
  const components = (document.components ??= {}) as { schemas: Record<string, JsonSchema>; headers?: object };
  components.headers = {
    RetryAfter: { description: 'Seconds to wait (RFC 9110 §10.2.3).', schema: { type: 'integer', minimum: 1 } },
  };
  for (const path of Object.values(document.paths)) {
    for (const method of methods) {
      if (path[method] !== undefined) refine(path[method], method, components.schemas);
    }
  }
  dropUnused(document, components.schemas);
}

function refine(operation: Mutable<Operation>, method: (typeof methods)[number], schemas: Schemas): void {
  // An empty list means that no token is needed. Without a list the security of the document would apply.
  operation.security ??= [];
  // A GET has no body, so these errors about the body cannot occur.
  if (method === 'get') {
    delete operation.responses['413'];
    delete operation.responses['415'];
  }
  const body = operation.requestBody as Answer | undefined;
  const asked = body?.content?.['application/json'];
  if (asked !== undefined) asked.example = exampleOf(asked.schema, schemas);
  for (const [status, answer] of Object.entries(operation.responses as Record<string, Answer>)) {
    if (status === '429' || status === '503') answer.headers = { 'Retry-After': retryAfter };
    const content = answer.content?.['application/json'];
    if (content !== undefined) addExamples(content, schemas);
  }
}

/** Adds one example for each error code, named after the code, or one example of the success. */
function addExamples(content: JsonContent, schemas: Schemas): void {
  const { schema } = content;
  const named = (schema.oneOf ?? [schema]).flatMap((failure): [string, { value: unknown }][] => {
    const code = resolved(failure, schemas).properties?.error_code?.enum?.[0];
    return typeof code === 'string' ? [[code, { value: exampleOf(failure, schemas) }]] : [];
  });
  if (named.length === 0) content.example = exampleOf(schema, schemas);
  else content.examples = Object.fromEntries(named);
}

/** Removes schemas that no operation uses, for example those for an unknown path and a wrong method. */
function dropUnused(document: OpenAPIObject, schemas: Record<string, JsonSchema>): void {
  const used = new Set<string>();
  const visit = (node: unknown): void => {
    for (const reference of referencesIn(node)) {
      const name = nameOf(reference);
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit(document.paths);
  for (const name of Object.keys(schemas)) if (!used.has(name)) delete schemas[name];
}
