import { mostResources } from '../protocol/list-query';
import { schemas } from '../protocol/schemas';

type Urls = (resource: string, id?: string) => string;

interface Attribute {
  readonly name: string;
  readonly description: string;
  readonly type?: 'string' | 'boolean' | 'complex' | 'reference';
  readonly multiValued?: true;
  readonly required?: true;
  readonly caseExact?: true;
  readonly mutability?: 'readOnly' | 'readWrite' | 'immutable';
  readonly uniqueness?: 'server' | 'none';
  readonly subAttributes?: readonly Attribute[];
  readonly referenceTypes?: readonly string[];
  readonly canonicalValues?: readonly string[];
}

/** What the service offers (RFC 7643 §5). */
export const serviceProviderConfig = (url: Urls) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: mostResources },
  changePassword: { supported: false },
  sort: { supported: true },
  etag: { supported: true },
  authenticationSchemes: [
    {
      ...{ type: 'oauthbearertoken', name: 'Bearer token', primary: true },
      description: 'The token that `client create NAME --scim` prints, in the header Authorization',
      specUri: 'https://www.rfc-editor.org/info/rfc6750',
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: url('ServiceProviderConfig') },
});

export const resourceTypes = (url: Urls) =>
  [
    {
      ...{ id: 'User', name: 'User', endpoint: '/Users', schema: schemas.user, description: 'A user account' },
      schemaExtensions: [{ schema: schemas.enterprise, required: false }],
    },
    { id: 'Group', name: 'Group', endpoint: '/Groups', schema: schemas.group, description: 'A group of users' },
  ].map((type) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    ...type,
    meta: { resourceType: 'ResourceType', location: url('ResourceTypes', type.id) },
  }));

const readOnly = { mutability: 'readOnly' } as const;

const userAttributes: readonly Attribute[] = [
  { name: 'userName', description: 'The login name', required: true, uniqueness: 'server' },
  { name: 'displayName', description: 'The name that people see' },
  { name: 'active', description: 'Whether the user can sign in', type: 'boolean' },
  {
    ...{
      name: 'emails',
      description: 'The address of the user, of which there is one',
      type: 'complex',
      multiValued: true,
    },
    subAttributes: [
      { name: 'value', description: 'The address', uniqueness: 'server' },
      { name: 'type', description: 'Always work', canonicalValues: ['work'] },
      { name: 'primary', description: 'Always true', type: 'boolean' },
    ],
  },
  {
    ...{ name: 'groups', description: 'The groups of the user', type: 'complex', multiValued: true, ...readOnly },
    subAttributes: [
      { name: 'value', description: 'The id of the group', caseExact: true, ...readOnly },
      {
        name: '$ref',
        description: 'Its address',
        type: 'reference',
        referenceTypes: ['Group'],
        caseExact: true,
        ...readOnly,
      },
      { name: 'display', description: 'Its name', ...readOnly },
      { name: 'type', description: 'Always direct', canonicalValues: ['direct'], ...readOnly },
    ],
  },
];

const enterpriseAttributes: readonly Attribute[] = [
  { name: 'department', description: 'The organisation unit, by its id or name; an unknown one is no unit' },
];

const groupAttributes: readonly Attribute[] = [
  { name: 'displayName', description: 'The name of the group', required: true, uniqueness: 'server' },
  {
    ...{ name: 'members', description: 'The users of the group', type: 'complex', multiValued: true },
    subAttributes: [
      { name: 'value', description: 'The id of the user', caseExact: true, mutability: 'immutable' },
      {
        ...{ name: '$ref', description: 'Its address', type: 'reference', referenceTypes: ['User'], caseExact: true },
        mutability: 'immutable',
      },
      { name: 'type', description: 'Always User', canonicalValues: ['User'], mutability: 'immutable' },
    ],
  },
];

/** What RFC 7643 §7 wants of each attribute. */
function described({ subAttributes, ...attribute }: Attribute): object {
  return {
    ...{ type: 'string', multiValued: false, required: false, caseExact: false },
    ...{ mutability: 'readWrite', returned: 'default', uniqueness: 'none', ...attribute },
    ...(subAttributes === undefined ? {} : { subAttributes: subAttributes.map(described) }),
  };
}

export const schemaDescriptions = (url: Urls) =>
  [
    { id: schemas.user, name: 'User', description: 'A user account', attributes: userAttributes },
    {
      id: schemas.enterprise,
      name: 'EnterpriseUser',
      description: 'A user in a company',
      attributes: enterpriseAttributes,
    },
    { id: schemas.group, name: 'Group', description: 'A group of users', attributes: groupAttributes },
  ].map(({ id, name, description, attributes }) => ({
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...{ id, name, description, attributes: attributes.map(described) },
    meta: { resourceType: 'Schema', location: url('Schemas', id) },
  }));
