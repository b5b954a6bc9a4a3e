/** What is used of a schema of OpenAPI 3.1, which is one of JSON Schema 2020-12. */
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
  /** As the generator writes a reference that has a description of its own beside it. */
  readonly allOf?: readonly JsonSchema[];
}

export type Schemas = Readonly<Record<string, JsonSchema>>;

/** The schema itself, where a reference stands for it. */
export function resolved(schema: JsonSchema, schemas: Schemas): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const target = schemas[nameOf(schema.$ref)];
  if (target === undefined) throw new Error(`${schema.$ref} leads nowhere`);
  return target;
}

export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);

/** Every `$ref` below a node. */
export function referencesIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : referencesIn(value),
  );
}

/**
 * 3.1 is JSON Schema: "or null" is a type, where the generator still writes the `nullable` of 3.0. In an enumeration null is
 * one more value.
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
