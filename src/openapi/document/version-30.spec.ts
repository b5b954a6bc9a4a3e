import type { OpenAPIObject } from '@nestjs/swagger';
import { nameSchemas } from './named-schemas';
import { asVersion30 } from './version-30';

const text = { type: 'string' };
const failure = (code: string, data?: string) => ({
  type: 'object',
  properties: { error_code: { ...text, enum: [code] }, msg: text, ...(data && { data: to(data) }) },
});
const to = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object, examples?: object) => ({ 'application/json': { schema, ...(examples && { examples }) } });

const document = {
  openapi: '3.1.0',
  info: { title: 'Service', version: '1' },
  paths: {
    '/thing': {
      get: {
        operationId: 'thing',
        parameters: [{ in: 'query', name: 'since', schema: { type: ['string', 'null'] } }],
        responses: {
          200: { content: json(to('Thing'), { one: { value: { schema: { type: ['kept', 'as it is'] } } } }) },
          400: { content: json({ oneOf: [to('Error_A'), to('Error_B')] }) },
          404: { content: json(to('Error_C')) },
        },
      },
    },
  },
  components: {
    headers: { Wait: { schema: { type: 'integer', exclusiveMinimum: 0 } } },
    schemas: {
      Thing: { type: 'object', properties: { parent: { oneOf: [to('Thing'), { type: 'null' }] } } },
      Error_A: failure('A', 'Fields'),
      Error_B: failure('B', 'Wait'),
      Error_C: failure('C'),
      Fields: { type: 'object', properties: { fields: { type: 'object', additionalProperties: text } } },
      Wait: { type: 'object', properties: { retry_after: { type: 'integer', exclusiveMinimum: 0 } } },
    },
  },
} as unknown as OpenAPIObject;

describe('the document in OpenAPI 3.0.3', () => {
  const given = structuredClone(document);
  const { openapi, paths, components } = asVersion30(given) as any;
  const { parameters, responses } = paths['/thing'].get;

  it('has the version, and the schemas of parameters, headers and answers in its form', () => {
    expect(openapi).toBe('3.0.3');
    expect(parameters[0].schema).toEqual({ type: 'string', nullable: true });
    expect(components.headers.Wait.schema).toEqual({ type: 'integer', minimum: 0, exclusiveMinimum: true });
    expect(responses['200'].content['application/json'].schema).toEqual(to('Thing'));
    expect(components.schemas.Thing.properties.parent).toEqual({
      type: 'object',
      allOf: [to('Thing')],
      nullable: true,
    });
  });

  it('changes no example, and not the document that it is made from', () => {
    expect(responses['200'].content['application/json'].examples.one.value.schema.type).toEqual(['kept', 'as it is']);
    expect(given).toEqual(document);
  });

  it('has one schema for all failures, with each member of their data', () => {
    for (const status of ['400', '404']) {
      expect(responses[status].content['application/json'].schema).toEqual(to('FailureResponse'));
    }
    expect(Object.keys(components.schemas)).toEqual(['Thing', 'FailureResponse', 'FailureData']);
    expect(components.schemas.FailureResponse.properties.data).toEqual(to('FailureData'));
    expect(Object.keys(components.schemas.FailureData.properties)).toEqual(['fields', 'retry_after']);
  });

  it('has the same failures when their choice has a name', () => {
    const named = structuredClone(document);
    nameSchemas(named);
    expect(asVersion30(named)).toEqual(asVersion30(document));
  });
});
