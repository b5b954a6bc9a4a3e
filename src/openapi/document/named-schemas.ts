import type { OpenAPIObject } from '@nestjs/swagger';
import { type JsonSchema, nameOf } from './json-schema';

type Schemas = Record<string, JsonSchema>;
interface Answer {
  readonly content?: Readonly<Record<string, { schema: JsonSchema }>>;
}
interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Answer>>;
}

/**
 * Gives each schema of an answer a name in `components`. A generator would otherwise invent one, often with a number that
 * moves when an endpoint is added. A name derives from the schema inside of the envelope, or from the operation and the
 * status, so it depends on nothing else in the document.
 */
export function nameSchemas(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  for (const path of Object.values(document.paths as unknown as Record<string, Record<string, Operation>>)) {
    for (const { operationId, responses } of Object.values(path)) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        for (const answer of Object.values(content)) {
          const name = nameFor(answer.schema, operationId, status);
          if (name === undefined) continue;
          assertFree(schemas, name, answer.schema);
          schemas[name] = answer.schema;
          answer.schema = { $ref: `#/components/schemas/${name}` };
        }
      }
    }
  }
}

/** Undefined for a reference, which has a name, and for a plain value such as a text, which needs none. */
function nameFor(schema: JsonSchema, operationId: string, status: string): string | undefined {
  const data = schema.properties?.data?.$ref;
  if (data !== undefined) return `${nameOf(data)}Envelope`;
  if (schema.oneOf === undefined) return undefined;
  return `${operationId[0]!.toUpperCase()}${operationId.slice(1)}Failure${status}`;
}

/** Operations share the envelope of one answer. Two schemas of one name would lose one of them. */
function assertFree(schemas: Schemas, name: string, schema: JsonSchema): void {
  const former = schemas[name];
  if (former !== undefined && JSON.stringify(former) !== JSON.stringify(schema)) {
    throw new Error(`two schemas of the OpenAPI document have the name ${name}`);
  }
}
