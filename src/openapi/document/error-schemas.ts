import { errorSchemaName } from '../../platform/http/answers.decorator';
import * as catalogue from '../../shared/errors/error-catalogue';
import type { Example } from './operation-examples';

/**
 * One schema for each error code, so that a client can tell failures apart by `error_code` alone, and the schemas of their
 * `data`.
 */
export function errorSchemas(): Record<string, object> {
  // Sorted, because the order of a module's exports depends on the compiler.
  const entries = byCode(Object.values(catalogue));
  return Object.fromEntries([
    ...entries.map((entry): [string, object] => {
      const data = dataSchema(entry);
      return [
        errorSchemaName(entry),
        {
          type: 'object',
          description: entry.msg.en,
          required: ['error_code', 'msg', ...(data?.required ? ['data'] : [])],
          properties: {
            error_code: { type: 'string', enum: [entry.code] },
            msg: {
              type: 'string',
              description: 'For people, in the language of Accept-Language. The text may change.',
            },
            ...(data === undefined ? {} : { data: { $ref: `#/components/schemas/${data.name}` } }),
          },
        },
      ];
    }),
    ...entries.flatMap((entry): [string, object][] => {
      const data = dataSchema(entry);
      return data === undefined ? [] : [[data.name, data.schema]];
    }),
  ]);
}

/** An answer for each error code. Where the recorded answers of an operation have the code, they replace it. */
export function errorExamples(): Record<string, Example> {
  return Object.fromEntries(
    byCode(Object.values(catalogue)).map((entry) => {
      const data = dataSchema(entry)?.example;
      const value = { error_code: entry.code, msg: entry.msg.en, ...(data === undefined ? {} : { data }) };
      return [entry.code, { summary: entry.msg.en, value }];
    }),
  );
}

const byCode = (entries: readonly catalogue.CatalogueEntry[]): catalogue.CatalogueEntry[] =>
  [...entries].sort((one, other) => (one.code < other.code ? -1 : 1));

interface ErrorData {
  readonly name: string;
  readonly required: boolean;
  readonly schema: object;
  readonly example?: object;
}

function dataSchema(entry: catalogue.CatalogueEntry): ErrorData | undefined {
  if (entry.status === 429 || entry.status === 503) {
    const seconds = {
      type: 'integer',
      minimum: 1,
      description: 'Seconds to wait. Retry-After has the same value.',
    };
    return {
      name: 'RetryAfterData',
      required: true,
      schema: { type: 'object', required: ['retry_after'], properties: { retry_after: seconds } },
      example: { retry_after: 42 },
    };
  }
  if (entry === catalogue.passwordPolicyViolated) {
    const rules = {
      type: 'array',
      minItems: 1,
      description:
        'The broken rules by their names in GET /password-policy. `max_bytes`: longer than 72 bytes in UTF-8, or a NUL.',
      items: { type: 'string' },
    };
    return {
      name: 'BrokenRulesData',
      required: true,
      schema: { type: 'object', required: ['rules'], properties: { rules } },
      example: { rules: ['min_length', 'forbid_common'] },
    };
  }
  if (entry === catalogue.applicationRefused) {
    const redirect = { type: 'string', description: 'Leads back to the application, which is told of the refusal.' };
    return {
      name: 'ApplicationRefusedData',
      required: true,
      schema: { type: 'object', required: ['redirect_to'], properties: { redirect_to: redirect } },
      example: { redirect_to: 'https://portal.example.com/oidc/auth/9f8a2d5b1c' },
    };
  }
  if (entry === catalogue.youngSessionRequired) {
    const factor = {
      type: 'boolean',
      description: 'At the sign-in to an application: the session lacks the second factor, not only a fresh login.',
    };
    return {
      name: 'YoungSessionData',
      required: false,
      schema: { type: 'object', properties: { second_factor: factor } },
    };
  }
  if (entry !== catalogue.requestInvalid && entry !== catalogue.refusedAsItIs) return undefined;
  const fields = {
    type: 'object',
    description: 'The problems of each field.',
    additionalProperties: { type: 'array', items: { type: 'string' } },
  };
  return { name: 'InvalidFieldsData', required: false, schema: { type: 'object', properties: { fields } } };
}
