import type { OpenAPIObject } from '@nestjs/swagger';
import { type JsonSchema, nameOf, referencesIn, resolved, type Schemas } from './json-schema';
import { asSchema30, eachOf } from './schema-30';

/** The schemas of all failures and of their `data`. */
const failureName = 'FailureResponse';
const dataName = 'FailureData';
const reference = (name: string): { readonly $ref: string } => ({ $ref: `#/components/schemas/${name}` });

/**
 * The same contract in OpenAPI 3.0.3, for generators that know no 3.1. All failures have one schema, because generators of most
 * languages cannot choose among several by the value of `error_code`, and refuse a code that was added later. The
 * description and the examples of each answer name its codes.
 */
export function asVersion30(document: OpenAPIObject): OpenAPIObject {
  const { schemas = {}, ...components } = document.components ?? {};
  const given = schemas as Schemas;
  const paths = converted(document.paths, given) as OpenAPIObject['paths'];
  const all = { ...eachOf(given, asSchema30), ...failureSchemas(given) };
  const used = reachable(paths, all);
  return {
    ...document,
    openapi: '3.0.3',
    paths,
    components: {
      ...(converted(components, given) as typeof components),
      schemas: Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name))),
    },
  };
}

/** Converts the schemas below a node that is none itself: an operation, an answer, a parameter. Examples are data. */
function converted(node: unknown, schemas: Schemas): unknown {
  if (Array.isArray(node)) return node.map((one) => converted(one, schemas));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node as Record<string, unknown>).map(([key, value]) => {
      if (key === 'example' || key === 'examples') return [key, value];
      if (key !== 'schema') return [key, converted(value, schemas)];
      const schema = value as JsonSchema;
      return [key, isFailure(schema, schemas) ? reference(failureName) : asSchema30(schema)];
    }),
  );
}

function isFailure(schema: JsonSchema, schemas: Schemas): boolean {
  const [first = schema] = resolved(schema, schemas).oneOf ?? [];
  return isEnvelope(resolved(first, schemas));
}

/** Items of a list can have an `error_code` as well, without the text of the envelope. */
const isEnvelope = ({ properties }: JsonSchema): boolean =>
  properties?.error_code !== undefined && properties.msg !== undefined;

/** One schema for the failures, with each member that the `data` of one of them has. */
function failureSchemas(schemas: Schemas): Record<string, object> {
  const failures = Object.values(schemas).flatMap((schema) => (isEnvelope(schema) ? [schema.properties ?? {}] : []));
  const members = failures.flatMap(({ data }) =>
    data === undefined ? [] : Object.entries(resolved(data, schemas).properties ?? {}),
  );
  return {
    [failureName]: {
      type: 'object',
      required: ['error_code', 'msg'],
      properties: {
        error_code: { type: 'string', description: 'What went wrong. The description of each answer has its codes.' },
        msg: asSchema30(failures[0]?.msg ?? {}),
        data: reference(dataName),
      },
    },
    [dataName]: { type: 'object', properties: eachOf(Object.fromEntries(members), asSchema30) },
  };
}

/** The names of the schemas that a node uses, also through other schemas. */
function reachable(node: unknown, schemas: Readonly<Record<string, object>>, found = new Set<string>()): Set<string> {
  for (const name of referencesIn(node).map(nameOf)) {
    if (found.has(name)) continue;
    found.add(name);
    reachable(schemas[name], schemas, found);
  }
  return found;
}
