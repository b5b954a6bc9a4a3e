import type { OpenAPIObject } from '@nestjs/swagger';
import { nameSchemas } from './named-schemas';

const to = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const envelope = (data: object) => json({ type: 'object', properties: { status: { const: true }, data } });

function named(...operations: [string, object][]) {
  const paths = operations.map(([operationId, responses]) => [`/${operationId}`, { get: { operationId, responses } }]);
  const document: unknown = JSON.parse(
    JSON.stringify({ paths: Object.fromEntries(paths), components: { schemas: {} } }),
  );
  nameSchemas(document as OpenAPIObject);
  return document as { readonly paths: any; readonly components: { readonly schemas: object } };
}

describe('the names of the schemas of answers', () => {
  const login: [string, object] = ['logIn', { 200: envelope(to('Tokens')), 401: json({ oneOf: [to('A'), to('B')] }) }];

  it('are those of what the envelope holds, and of the operation and the status of a failure', () => {
    const { paths, components } = named(login);
    expect(Object.keys(components.schemas)).toEqual(['TokensEnvelope', 'LogInFailure401']);
    expect(paths['/logIn'].get.responses['401'].content['application/json'].schema).toEqual(to('LogInFailure401'));
  });

  it('stay when an operation is added before the others', () => {
    const before = named(login).components.schemas;
    expect(named(['added', { ...login[1], 200: envelope(to('Other')) }], login).components.schemas).toMatchObject(
      before,
    );
  });

  it('are shared by operations of one answer, and a name is never given to two schemas', () => {
    expect(Object.keys(named(login, ['again', { 200: login[1][200 as never] }]).components.schemas)).toHaveLength(2);
    const other = json({ type: 'object', properties: { data: to('Tokens') } });
    expect(() => named(login, ['other', { 200: other }])).toThrow(
      'two schemas of the OpenAPI document have the name TokensEnvelope',
    );
  });

  it('are not given to references and to plain values', () => {
    expect(named(['plain', { 200: json({ type: 'string' }), 404: json(to('A')) }]).components.schemas).toEqual({});
  });
});
