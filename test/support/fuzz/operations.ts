import { contract } from '../contract';

export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly example?: unknown;
}

export interface Parameter {
  readonly in: 'path' | 'query';
  readonly name: string;
  readonly schema: Schema;
}

/** An operation of `openapi.json`. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** With parameters, for example `/passkeys/{id}`. */
  readonly template: string;
  readonly parameters: readonly Parameter[];
  readonly mediaType?: string;
  readonly body?: Schema;
  /** The credentials that it takes: `access_token`, `refresh_token`, `service_client`. */
  readonly schemes: readonly string[];
  /** Whether it can answer one JSON object on each line. */
  readonly exports: boolean;
}

interface DeclaredOperation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

export const operations: readonly Operation[] = Object.entries(contract.paths).flatMap(([template, methods]) =>
  Object.entries(methods as Record<string, DeclaredOperation>).map(([method, declared]) => {
    const [mediaType, content] = Object.entries(declared.requestBody?.content ?? {})[0] ?? [];
    return {
      id: declared.operationId,
      method: method.toUpperCase(),
      template,
      parameters: declared.parameters ?? [],
      mediaType,
      body: content?.schema,
      schemes: (declared.security ?? []).flatMap((one) => Object.keys(one)),
      exports: 'application/x-ndjson' in (declared.responses['200']?.content ?? {}),
    };
  }),
);

/**
 * Operations that may not succeed in a run: they need a login that waits for a code by mail, a mail server that refuses a
 * mail, a receiver that refuses an event, a device that is trusted at that moment, or a passkey of an account that a request may
 * name: only the accounts of the lanes have passkeys. A sign-in at an application needs the cookie of the browser that began it, and
 * a grant comes from such a sign-in. The code of a sign-in or of a try at an identity provider comes from a browser that was there.
 */
export const unlikely: readonly string[] = [
  ...['resendOtp', 'adminRetryMail', 'adminRetryEvent', 'adminDeleteUserPasskey', 'deleteTrustedDevice'],
  ...['getInteraction', 'finishInteraction', 'endGrant', 'adminEndUserSession', 'adminDeleteUserDevice'],
  ...['loginExternally', 'adminReadIdentityProviderTry'],
];

const schemas = contract.components?.schemas as unknown as Readonly<Record<string, Schema>>;

/** The schema without references. */
export function resolved(schema: Schema): Schema {
  if (schema.$ref !== undefined) return resolved(schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)]!);
  return schema.allOf?.[0] === undefined ? schema : resolved(schema.allOf[0]);
}

/** The list that an item of the path belongs to, for example `/passkeys` for `/passkeys/{id}`. */
export const listOf = (template: string): string => template.split('/{', 1)[0]!;
