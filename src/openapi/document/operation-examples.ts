import { type JsonSchema, resolved, type Schemas } from './json-schema';
import type { RecordedExchange } from './recorded-examples';

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

interface Content {
  readonly schema: JsonSchema;
  examples?: Record<string, Example | { readonly $ref: string }>;
}

type Contents = Readonly<Record<string, Content>>;

export interface ExampledOperation {
  readonly parameters?: readonly { readonly name: string; example?: unknown }[];
  readonly requestBody?: { readonly content?: Contents };
  readonly responses: Readonly<Record<string, { readonly content?: Contents }>>;
}

/**
 * Adds the recorded examples of an operation. An error code that was not recorded gets the example of `components`,
 * which all operations share.
 */
export function addExamples(
  { parameters = [], requestBody, responses }: ExampledOperation,
  recorded: readonly RecordedExchange[],
  schemas: Schemas,
): void {
  for (const parameter of parameters) {
    const example = recorded.map((exchange) => exchange.parameters?.[parameter.name]).find((one) => one !== undefined);
    if (example !== undefined) parameter.example = example;
  }
  const requests = recorded.filter(({ request }) => request !== undefined);
  for (const content of Object.values(requestBody?.content ?? {})) {
    const examples = requests.map(({ name, summary, request }) => [name, { summary, value: request }] as const);
    if (examples.length > 0) content.examples = Object.fromEntries(examples);
  }
  for (const [status, { content = {} }] of Object.entries(responses)) {
    for (const [mediaType, answer] of Object.entries(content)) {
      const own = recorded.filter((one) => String(one.status) === status && one.mediaType === mediaType);
      const examples = {
        ...Object.fromEntries(codesOf(answer.schema, schemas).map((code) => [code, { $ref: sharedExample(code) }])),
        ...Object.fromEntries(own.map(({ name, summary, answer: value }) => [name, { summary, value }])),
      };
      if (Object.keys(examples).length > 0) answer.examples = examples;
    }
  }
}

const sharedExample = (code: string): string => `#/components/examples/${code}`;

/** The error codes that an answer declares. */
function codesOf(schema: JsonSchema, schemas: Schemas): string[] {
  return (schema.oneOf ?? [schema]).flatMap((failure) => {
    const code = resolved(failure, schemas).properties?.error_code?.enum?.[0];
    return typeof code === 'string' ? [code] : [];
  });
}
