/** The used part of an OpenAPI 3.1 schema, which is a JSON Schema 2020-12. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly additionalProperties?: boolean | JsonSchema;
}

export type Schemas = Readonly<Record<string, JsonSchema>>;

/** Resolves a reference. Any other schema is returned unchanged. */
export function resolved(schema: JsonSchema, schemas: Schemas): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const target = schemas[nameOf(schema.$ref)];
  if (target === undefined) throw new Error(`no schema for the reference ${schema.$ref}`);
  return target;
}

export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** All values of `$ref` below a node. */
export function referencesIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : referencesIn(value),
  );
}

/**
 * Replaces what the generator still writes for OpenAPI 3.0 by the 3.1 form: `nullable` is a type, and in an enumeration one
 * more value; an `allOf` around one reference is the reference with a description. An enumeration of one boolean is a
 * `const`, because many generators of clients make a type of its own for it, which does not compile.
 */
export function asVersion31<T>(node: T): T {
  if (Array.isArray(node)) return node.map(asVersion31) as T;
  if (typeof node !== 'object' || node === null) return node;
  const { nullable, ...rest } = node as Record<string, unknown>;
  const mapped: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, asVersion31(value)]),
  );
  if (nullable !== true) return plain(mapped) as T;
  if (Array.isArray(mapped.enum)) mapped.enum = [...(mapped.enum as unknown[]), null];
  if (typeof mapped.type === 'string') return { ...mapped, type: [mapped.type, 'null'] } as T;
  return { oneOf: [plain(mapped), { type: 'null' }] } as T;
}

function plain(schema: Record<string, unknown>): Record<string, unknown> {
  const { enum: values, allOf, ...rest } = schema;
  if (Array.isArray(values) && values.length === 1 && typeof values[0] === 'boolean') {
    return { ...rest, const: values[0] };
  }
  return Array.isArray(allOf) && allOf.length === 1 ? { ...rest, ...(allOf[0] as object) } : schema;
}
