const text = { type: 'string', minLength: 1 };

/** The part of the JSON schema of CycloneDX 1.5 that a list of packages uses. It refuses every other member. */
export const cycloneDx = {
  type: 'object',
  required: ['bomFormat', 'specVersion', 'serialNumber', 'version', 'metadata', 'components', 'dependencies'],
  additionalProperties: false,
  properties: {
    $schema: { enum: ['http://cyclonedx.org/schema/bom-1.5.schema.json'] },
    bomFormat: { enum: ['CycloneDX'] },
    specVersion: { enum: ['1.5'] },
    serialNumber: {
      pattern: '^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
      type: 'string',
    },
    version: { type: 'integer', minimum: 1 },
    metadata: {
      type: 'object',
      required: ['timestamp', 'component'],
      additionalProperties: false,
      properties: {
        timestamp: { type: 'string', format: 'date-time' },
        lifecycles: {
          type: 'array',
          items: { type: 'object', required: ['phase'], properties: { phase: { enum: ['pre-build', 'build'] } } },
        },
        tools: { type: 'array', items: { type: 'object', properties: { vendor: text, name: text, version: text } } },
        component: { $ref: '#/definitions/component' },
      },
    },
    components: { type: 'array', minItems: 1, uniqueItems: true, items: { $ref: '#/definitions/component' } },
    dependencies: {
      type: 'array',
      uniqueItems: true,
      items: {
        type: 'object',
        required: ['ref'],
        additionalProperties: false,
        properties: { ref: text, dependsOn: { type: 'array', uniqueItems: true, items: text } },
      },
    },
  },
  definitions: {
    component: {
      type: 'object',
      required: ['type', 'name', 'bom-ref', 'version', 'purl'],
      additionalProperties: false,
      properties: {
        'bom-ref': text,
        type: { enum: ['application', 'library'] },
        name: text,
        version: text,
        scope: { enum: ['required', 'optional', 'excluded'] },
        author: { type: 'string' },
        description: { type: 'string' },
        purl: { type: 'string', pattern: '^pkg:npm/' },
        hashes: {
          type: 'array',
          items: {
            type: 'object',
            required: ['alg', 'content'],
            additionalProperties: false,
            properties: {
              alg: { enum: ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'] },
              content: { type: 'string', pattern: '^([a-f0-9]{40}|[a-f0-9]{64}|[a-f0-9]{96}|[a-f0-9]{128})$' },
            },
          },
        },
        // Either one expression or a list of licences, each by its SPDX id or by its name.
        licenses: {
          type: 'array',
          minItems: 1,
          items: {
            oneOf: [
              {
                type: 'object',
                required: ['license'],
                additionalProperties: false,
                properties: {
                  license: {
                    type: 'object',
                    minProperties: 1,
                    maxProperties: 1,
                    additionalProperties: false,
                    properties: { id: { type: 'string', pattern: '^[\\w.-]+$' }, name: text },
                  },
                },
              },
              {
                type: 'object',
                required: ['expression'],
                additionalProperties: false,
                properties: { expression: text },
              },
            ],
          },
        },
        properties: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            properties: { name: text, value: { type: 'string' } },
          },
        },
        externalReferences: {
          type: 'array',
          items: {
            type: 'object',
            required: ['type', 'url'],
            additionalProperties: false,
            properties: { type: { enum: ['vcs', 'website', 'issue-tracker', 'distribution'] }, url: text },
          },
        },
      },
    },
  },
} as const;
