import type { OpenAPIObject } from '@nestjs/swagger';
import { type JsonSchema, nameOf } from '../../src/openapi/document/json-schema';
import { nameSchemas } from '../../src/openapi/document/named-schemas';
import { asVersion30 } from '../../src/openapi/document/version-30';
import { contract } from '../support/contract';

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, { schema: JsonSchema }>> }>>;
}
type Rule = (schema: JsonSchema, isNamed: boolean) => boolean;

/** Each schema of a document with its place, without those in examples. */
function schemasOf(document: OpenAPIObject): [place: string, schema: JsonSchema, isNamed: boolean][] {
  const found: [string, JsonSchema, boolean][] = [];
  const visit = (place: string, schema: JsonSchema, isNamed = false): void => {
    found.push([place, schema, isNamed]);
    const { items, properties = {}, additionalProperties, oneOf = [], anyOf = [], allOf = [] } = schema;
    for (const [name, one] of Object.entries(properties)) visit(`${place}.${name}`, one);
    if (items !== undefined) visit(`${place}[]`, items);
    if (typeof additionalProperties === 'object') visit(`${place}.*`, additionalProperties);
    for (const [n, one] of [...oneOf, ...anyOf, ...allOf].entries()) visit(`${place} choice ${n}`, one);
  };
  const search = (place: string, node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'schema') visit(place, value as JsonSchema);
      else if (key !== 'example' && key !== 'examples') search(`${place} ${key}`, value);
    }
  };
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    visit(name, schema as JsonSchema, true);
  }
  search('', document.paths);
  return found;
}

const typesOf = ({ type }: JsonSchema): readonly unknown[] => [type].flat();
const choicesOf = ({ oneOf, anyOf }: JsonSchema) => (oneOf ?? anyOf ?? []).filter(({ type }) => type !== 'null');

/** What costs generators of clients something that the contract does not need. */
const rules: readonly [rule: string, breaks: Rule][] = [
  ['an object has a name in components', ({ properties }, isNamed) => !isNamed && properties !== undefined],
  ['a choice has a name in components', (schema, isNamed) => !isNamed && choicesOf(schema).length > 1],
  ['no enumeration has a boolean', ({ enum: values = [] }) => values.some((value) => typeof value === 'boolean')],
  ['a choice of one is no choice', ({ oneOf, anyOf }) => (oneOf ?? anyOf)?.length === 1],
  ['allOf has several schemas', ({ allOf }) => allOf?.length === 1],
  ['a value has one type, or null', (schema) => typesOf(schema).filter((type) => type !== 'null').length > 1],
  [
    'a choice is among objects, so that no generator needs a type for "text or list"',
    (schema) => choicesOf(schema).length > 1 && choicesOf(schema).some(({ $ref }) => $ref === undefined),
  ],
  ['a list says what it contains', (schema) => typesOf(schema).includes('array') && schema.items === undefined],
];

const breaking = (document: OpenAPIObject, breaks: Rule): string[] =>
  schemasOf(document).flatMap(([place, schema, isNamed]) => (breaks(schema, isNamed) ? [place] : []));

describe('the OpenAPI document, for generators of clients', () => {
  it.each(rules)('%s', (_rule, breaks) => expect(breaking(contract, breaks)).toEqual([]));

  it('each rule finds what it forbids', () => {
    const text: JsonSchema = { type: 'string' };
    const faulty: JsonSchema = {
      type: 'object',
      properties: {
        inline: { type: 'object', properties: { text } },
        result: { type: 'boolean', enum: [true] },
        alone: { oneOf: [text] },
        wrapped: { allOf: [{ $ref: '#/components/schemas/Faulty' }] },
        mixed: { type: ['string', 'integer'] },
        list: { type: 'array' },
        aud: { oneOf: [text, { type: 'array', items: text }] },
      },
    };
    const document = { paths: {}, components: { schemas: { Faulty: faulty } } } as unknown as OpenAPIObject;
    expect(rules.map(([, breaks]) => breaking(document, breaks).map((place) => place.replace('Faulty.', '')))).toEqual([
      ['inline'],
      ['aud'],
      ['result'],
      ['alone'],
      ['wrapped'],
      ['mixed'],
      ['aud'],
      ['list'],
    ]);
  });

  it('the one in OpenAPI 3.0.3 has a type, a reference or a choice everywhere, and no keyword of 3.1', () => {
    const untyped: Rule = ({ $ref, type, oneOf, anyOf }) => (oneOf ?? anyOf ?? $ref ?? type) === undefined;
    const modern: Rule = (schema) => Array.isArray(schema.type) || schema.type === 'null' || 'const' in schema;
    const older = asVersion30(contract);
    expect(breaking(older, untyped)).toEqual([]);
    expect(breaking(older, modern)).toEqual([]);
  });

  it('the one in OpenAPI 3.0.3 has the operations, names and examples of the other one', () => {
    const older = asVersion30(contract);
    expect(Object.keys(older.paths)).toEqual(Object.keys(contract.paths));
    expect(older.components?.examples).toEqual(contract.components?.examples);
    const names = (document: OpenAPIObject) =>
      Object.keys(document.components?.schemas ?? {}).filter((name) => !/Failure|Error_|Data$/.test(name));
    expect(names(older)).toEqual(names(contract));
  });

  it('an endpoint that is added before all others, with the answers of another one, changes no other name', () => {
    const schemas = contract.components?.schemas as Record<string, JsonSchema>;
    const paths = contract.paths as unknown as Record<string, { post: Operation }>;
    const added = { ...structuredClone(paths['/login']!.post), operationId: 'added' };
    for (const answer of Object.values(added.responses).flatMap(({ content }) => Object.values(content))) {
      const named = schemas[nameOf(answer.schema.$ref ?? '')]!;
      // As the declarations of a new route have them, without a name.
      if (named.oneOf !== undefined || named.properties?.status !== undefined) answer.schema = named;
    }
    const more = structuredClone({
      ...contract,
      paths: { '/added': { post: added }, ...paths },
    }) as unknown as OpenAPIObject;
    nameSchemas(more);
    const names = (document: OpenAPIObject) => Object.keys(document.components?.schemas ?? {});
    const isNew = (name: string) => !names(contract).includes(name);
    expect(names(more).filter(isNew)).toEqual(['AddedFailure401', 'AddedFailure429', 'AddedFailure503']);
    expect(more).toMatchObject(contract);
    expect(asVersion30(more)).toMatchObject(asVersion30(contract));
    expect(names(asVersion30(more))).toEqual(names(asVersion30(contract)));
  });
});
