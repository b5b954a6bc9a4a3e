import { asSchema30 } from './schema-30';

describe('a schema of OpenAPI 3.1 in the form of 3.0.3', () => {
  const reference = { $ref: '#/components/schemas/User' };

  it.each<[string, object, object]>([
    [
      'null as a type',
      { type: ['string', 'null'], format: 'uuid' },
      { type: 'string', format: 'uuid', nullable: true },
    ],
    [
      'null in an enumeration',
      { type: ['string', 'null'], enum: ['a', null] },
      { type: 'string', enum: ['a'], nullable: true },
    ],
    [
      'null beside a reference',
      { anyOf: [reference, { type: 'null' }] },
      { type: 'object', allOf: [reference], nullable: true },
    ],
    ['null beside a type', { oneOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'string', nullable: true }],
    ['several types', { type: ['string', 'integer'] }, { anyOf: [{ type: 'string' }, { type: 'integer' }] }],
    ['a constant text', { const: 'Bearer', type: 'string' }, { type: 'string', enum: ['Bearer'] }],
    ['a constant number', { type: 'integer', const: 3 }, { type: 'integer', enum: [3] }],
    ['a constant boolean', { const: true }, { type: 'boolean' }],
    ['an enumeration of booleans', { type: 'boolean', enum: [true] }, { type: 'boolean' }],
    [
      'bounds',
      { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
      { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
    ],
    ['examples', { type: 'string', examples: ['a', 'b'] }, { type: 'string', example: 'a' }],
    ['a text beside a reference', { ...reference, description: 'The user.' }, reference],
    ['a list without items', { type: 'array' }, { type: 'array', items: {} }],
    [
      'a map',
      { type: 'object', additionalProperties: { type: ['string', 'null'] } },
      { type: 'object', additionalProperties: { type: 'string', nullable: true } },
    ],
    [
      'keywords that only a JSON Schema has',
      {
        $schema: 'x',
        $comment: 'x',
        $defs: {},
        if: {},
        then: {},
        prefixItems: [],
        contains: {},
        patternProperties: {},
        propertyNames: {},
        unevaluatedProperties: false,
        dependentRequired: {},
        contentEncoding: 'base64',
        type: 'string',
      },
      { type: 'string' },
    ],
    [
      'schemas in schemas',
      {
        type: 'object',
        properties: { type: { const: true }, list: { type: 'array', items: { type: ['integer', 'null'] } } },
        not: { const: 1 },
        oneOf: [{ const: 'a' }, reference],
      },
      {
        type: 'object',
        properties: { type: { type: 'boolean' }, list: { type: 'array', items: { type: 'integer', nullable: true } } },
        not: { enum: [1] },
        oneOf: [{ enum: ['a'] }, reference],
      },
    ],
  ])('%s', (_what, before, after) => expect(asSchema30(before)).toEqual(after));
});
