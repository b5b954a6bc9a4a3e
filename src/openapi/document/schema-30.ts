import type { JsonSchema } from './json-schema';

type Node = Record<string, unknown>;

/** The keywords of a schema in OpenAPI 3.0.3 whose values are no schemas. */
const keywords = new Set([
  ...[
    'title',
    'description',
    'type',
    'format',
    'default',
    'example',
    'required',
    'nullable',
    'deprecated',
    'multipleOf',
  ],
  ...['minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems', 'uniqueItems'],
  ...['minProperties', 'maxProperties', 'readOnly', 'writeOnly', 'discriminator', 'xml', 'externalDocs'],
]);

/**
 * A schema of OpenAPI 3.1, which is a JSON Schema, in the form of 3.0.3. A keyword that 3.0 does not have is left out, so the
 * result may allow more, and never less.
 */
export function asSchema30(schema: JsonSchema): Node {
  const { $ref, items, properties, allOf, not, additionalProperties } = schema;
  // The keywords beside a reference have no effect in 3.0.
  if ($ref !== undefined) return { $ref };
  return {
    ...Object.fromEntries(Object.entries(schema).filter(([key]) => keywords.has(key))),
    ...types(schema),
    ...values(schema),
    ...bounds(schema),
    ...(items !== undefined || [schema.type].flat().includes('array') ? { items: asSchema30(items ?? {}) } : {}),
    ...(properties === undefined ? {} : { properties: eachOf(properties, asSchema30) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === 'object' ? asSchema30(additionalProperties) : additionalProperties,
        }),
    ...(allOf === undefined ? {} : { allOf: allOf.map(asSchema30) }),
    ...(not === undefined ? {} : { not: asSchema30(not) }),
    ...alternatives(schema),
  };
}

export const eachOf = <T, R>(record: Readonly<Record<string, T>>, change: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));

/** Null is no type of 3.0 but `nullable`, and a schema has one type. */
function types({ type }: JsonSchema): Node {
  if (type === undefined || typeof type === 'string') return {};
  const others = type.filter((one) => one !== 'null');
  return {
    type: others.length === 1 ? others[0] : undefined,
    ...(others.length < type.length ? { nullable: true } : {}),
    ...(others.length > 1 ? { anyOf: others.map((one) => asSchema30({ type: one })) } : {}),
  };
}

/**
 * A constant is an enumeration of one. That of a boolean is plainly a boolean, because generators make a type of its own for
 * an enumeration. Null is left out of one: `nullable` says it, and generators would make a value named null.
 */
function values({ enum: several, const: constant, example, examples }: JsonSchema): Node {
  const shown = example ?? examples?.[0];
  const allowed = (constant === undefined ? several : [constant])?.filter((one) => one !== null);
  const isPlain = allowed === undefined || allowed.some((one) => typeof one === 'boolean');
  return {
    ...(typeof constant === 'boolean' ? { type: 'boolean' } : {}),
    ...(isPlain ? {} : { enum: allowed }),
    ...(shown === undefined ? {} : { example: shown }),
  };
}

/** In 3.0 an exclusive bound is a boolean beside the bound. */
function bounds({ exclusiveMinimum, exclusiveMaximum }: JsonSchema): Node {
  return {
    ...(exclusiveMinimum === undefined ? {} : { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(exclusiveMaximum === undefined ? {} : { maximum: exclusiveMaximum, exclusiveMaximum: true }),
  };
}

/**
 * Null among the alternatives is `nullable`. A single other one is no choice; a reference needs `allOf` beside it, and
 * `nullable` needs the type, which is that of all named schemas.
 */
function alternatives({ oneOf, anyOf }: JsonSchema): Node {
  const all = oneOf ?? anyOf;
  if (all === undefined) return {};
  const others = all.filter(({ type }) => type !== 'null').map(asSchema30);
  const nullable = others.length < all.length ? { nullable: true } : {};
  if (others.length > 1) return { [oneOf === undefined ? 'anyOf' : 'oneOf']: others, ...nullable };
  return { ...(others[0]?.$ref === undefined ? others[0] : { type: 'object', allOf: others }), ...nullable };
}
