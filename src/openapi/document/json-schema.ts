/** The used part of an OpenAPI 3.1 schema, which is a JSON Schema 2020-12. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly oneOf?: readonly JsonSchema[];
  /** The generator writes `allOf` for a reference with its own description. */
  readonly allOf?: readonly JsonSchema[];
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
 * Replaces `nullable` of OpenAPI 3.0, which the generator still writes, by the 3.1 form: null is a type, and in an
 * enumeration one more value.
 */
export function asVersion31<T>(node: T): T {
  if (Array.isArray(node)) return node.map(asVersion31) as T;
  if (typeof node !== 'object' || node === null) return node;
  const { nullable, ...rest } = node as Record<string, unknown>;
  const mapped: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, asVersion31(value)]),
  );
  if (nullable !== true) return mapped as T;
  if (Array.isArray(mapped.enum)) mapped.enum = [...(mapped.enum as unknown[]), null];
  if (typeof mapped.type === 'string') return { ...mapped, type: [mapped.type, 'null'] } as T;
  return { oneOf: [mapped, { type: 'null' }] } as T;
}
