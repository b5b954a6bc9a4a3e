import { type JsonSchema, resolved, type Schemas } from './json-schema';

const byFormat: Readonly<Record<string, string>> = {
  uuid: '0b9d2c4e-6a1f-4f3a-9c57-3d8e5b7a1c20',
  'date-time': '2026-01-05T09:00:00.000Z',
  email: 'alice@example.com',
};

const byType: Readonly<Record<string, unknown>> = { boolean: false, integer: 1, number: 1, string: 'text' };

/** Builds a value that matches the schema, from the examples of its parts. */
export function exampleOf(schema: JsonSchema, schemas: Schemas): unknown {
  const { example, type, format, enum: values, properties, items, oneOf, allOf, minimum } = resolved(schema, schemas);
  if (example !== undefined) return example;
  if (values !== undefined) return values[0];
  const part = oneOf?.[0] ?? allOf?.[0];
  if (part !== undefined) return exampleOf(part, schemas);
  if (properties !== undefined) {
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, exampleOf(property, schemas)]),
    );
  }
  if (items !== undefined) return [exampleOf(items, schemas)];
  if (format !== undefined && format in byFormat) return byFormat[format];
  const kind = typeof type === 'object' ? (type[0] ?? 'null') : (type ?? 'null');
  return kind === 'integer' ? (minimum ?? 1) : (byType[kind] ?? null);
}
