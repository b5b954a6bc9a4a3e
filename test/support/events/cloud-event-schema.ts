/**
 * The JSON schema of CloudEvents 1.0.2: `cloudevents/formats/cloudevents.json` of github.com/cloudevents/spec at the commit
 * fc1f6f31f5f011a72183f1bcea20c987cb683ade (tag `v1.0.2`), with its definitions in place and without descriptions.
 */
export const cloudEventSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    id: { type: 'string', minLength: 1 },
    source: { type: 'string', format: 'uri-reference', minLength: 1 },
    specversion: { type: 'string', minLength: 1 },
    type: { type: 'string', minLength: 1 },
    datacontenttype: { type: ['string', 'null'], minLength: 1 },
    dataschema: { type: ['string', 'null'], format: 'uri', minLength: 1 },
    subject: { type: ['string', 'null'], minLength: 1 },
    time: { type: ['string', 'null'], format: 'date-time', minLength: 1 },
    data: { type: ['object', 'string', 'number', 'array', 'boolean', 'null'] },
    data_base64: { type: ['string', 'null'], contentEncoding: 'base64' },
  },
  // The specification adds: names of attributes are lower case letters and digits.
  propertyNames: { pattern: '^[a-z0-9]+$|^data_base64$' },
  required: ['id', 'source', 'specversion', 'type'],
} as const;
