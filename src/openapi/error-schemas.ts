import { errorSchemaName } from '../platform/http/answers.decorator';
import * as catalogue from '../shared/errors/error-catalogue';

/** One schema for each code, so that a client can tell failures apart by `error_code` alone. */
export function errorSchemas(): Record<string, object> {
  return Object.fromEntries(
    // In an order of their own: that of a module's exports is the compiler's.
    byCode(Object.values(catalogue)).map((entry) => {
      const data = dataSchema(entry);
      return [
        errorSchemaName(entry),
        {
          type: 'object',
          description: entry.msg.en,
          required: ['error_code', 'msg', ...(data?.required ? ['data'] : [])],
          properties: {
            error_code: { type: 'string', enum: [entry.code] },
            msg: { type: 'string', description: 'For people, in their language; may change.', example: entry.msg.en },
            ...(data === undefined ? {} : { data: data.schema }),
          },
        },
      ];
    }),
  );
}

const byCode = (entries: readonly catalogue.CatalogueEntry[]): catalogue.CatalogueEntry[] =>
  [...entries].sort((one, other) => (one.code < other.code ? -1 : 1));

function dataSchema(entry: catalogue.CatalogueEntry): { required: boolean; schema: object } | undefined {
  if (entry.status === 429 || entry.status === 503) {
    const seconds = { type: 'integer', minimum: 1, description: 'Seconds to wait, also in Retry-After.', example: 42 };
    return {
      required: true,
      schema: { type: 'object', required: ['retry_after'], properties: { retry_after: seconds } },
    };
  }
  if (entry !== catalogue.requestInvalid) return undefined;
  const fields = {
    type: 'object',
    description: 'What does not fit, by field.',
    additionalProperties: { type: 'array', items: { type: 'string' } },
    example: { username: ['username is required'] },
  };
  return { required: false, schema: { type: 'object', properties: { fields } } };
}
