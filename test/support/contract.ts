import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import type { OpenAPIObject } from '@nestjs/swagger';
import { methodNotAllowed, routeNotFound } from '../../src/shared/errors/error-catalogue';

export interface ReceivedAnswer {
  readonly method: string;
  /** Path and query, without `API_PREFIX`. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The parsed body, if it is JSON. */
  readonly body: unknown;
}

interface DeclaredResponse {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

type Operations = Readonly<Record<string, { readonly responses: Readonly<Record<string, DeclaredResponse>> }>>;

/** The committed document. `test/unit/openapi.spec.ts` checks that it matches the code. */
export const contract = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')) as OpenAPIObject;

const templates = Object.entries(contract.paths as Record<string, Operations>).map(([template, operations]) => ({
  template,
  operations,
  pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]*)')}$`),
}));

// The linter has checked the document itself (test/unit/openapi.spec.ts).
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, formats: { binary: true } });
addFormats(ajv);
const components = (contract.components?.schemas ?? {}) as Readonly<Record<string, object>>;
const known = new Set<string>();
const validators = new Map<string, ValidateFunction>();

/** The server finds no route for longer path parameters (`maxParamLength`). */
const longestParameter = 100;

/**
 * Compares an answer with the OpenAPI document: status, media type, every field of the body, and `Retry-After` where it
 * is declared. Ignores paths that the document does not contain (health, keys, metrics, the document itself).
 * @throws Error with the operation and what it does not declare
 */
export function assertDeclaredAnswer({ method, url, status, headers, body }: ReceivedAnswer): void {
  // `URL` removes dot segments, as the server does.
  const path = new URL(url, 'http://service').pathname;
  const matching = templates.filter(({ pattern }) => pattern.test(path));
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  // `POST /admin/users/import` also has the form of `/admin/users/{uid}`, which has other methods.
  const answers =
    status === methodNotAllowed.status ? undefined : matching.find(({ operations }) => verb in operations);
  const found = answers ?? matching[0];
  if (found === undefined) return;
  const code = codeOf(body);
  const parameters = found.pattern.exec(path)!.slice(1);
  // An answer to HEAD has no body with the code.
  const hasNoRoute = code === routeNotFound.code || (method === 'HEAD' && status === routeNotFound.status);
  if (hasNoRoute && parameters.some((value) => value === '' || value.length > longestParameter)) return;

  const operation = found.operations[verb];
  const name = `${method} ${found.template}`;
  if (operation === undefined) {
    // The server answers preflight requests for all paths, without an operation.
    if (method === 'OPTIONS' || status === methodNotAllowed.status) return;
    throw new Error(`${name} is not in openapi.json, but answered ${status} ${code ?? ''}`);
  }
  const declared = operation.responses[status];
  if (declared === undefined) throw new Error(`${name} answered ${status} ${code ?? ''}, which it does not declare`);
  if (method === 'HEAD') return;
  assertBody(`${name} ${status}`, declared, headers, body);
  if (status === 429 || status === 503) assertRetryAfter(name, headers, body);
}

function assertBody(name: string, declared: DeclaredResponse, headers: ReceivedAnswer['headers'], body: unknown): void {
  if (declared.content === undefined && body === undefined && String(headers['content-length']) === '0') return;
  const mediaType = String(headers['content-type']).split(';', 1)[0]!;
  const schema = declared.content?.[mediaType]?.schema;
  if (schema === undefined) throw new Error(`${name} answered ${mediaType}, which it does not declare`);
  if (mediaType !== 'application/json') return;
  const validate = validators.get(name) ?? ajv.compile(inContract(schema));
  validators.set(name, validate);
  if (validate(body)) return;
  const problems = ajv.errorsText(validate.errors, { dataVar: 'body' });
  throw new Error(`${name} answered ${codeOf(body) ?? 'a body'} that is not as declared: ${problems}`);
}

function assertRetryAfter(name: string, headers: ReceivedAnswer['headers'], body: unknown): void {
  const told = (body as { data: { retry_after: number } }).data.retry_after;
  if (String(headers['retry-after']) !== String(told))
    throw new Error(`${name} has retry_after ${told}, but another value in the header Retry-After`);
}

function codeOf(body: unknown): string | undefined {
  const code = (body as { error_code?: unknown } | undefined)?.error_code;
  return typeof code === 'string' ? code : undefined;
}

/** Forbids undeclared fields. Clients must tolerate new fields, but the service must declare all that it sends. */
function closed<T>(node: T): T {
  if (Array.isArray(node)) return node.map(closed) as T;
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value as unknown)]));
  // The map below `properties` may have a field named `properties`, but only a schema has `type: 'object'`.
  if (copy.type === 'object' && copy.properties && !('additionalProperties' in copy)) copy.additionalProperties = false;
  return copy as T;
}

/**
 * A schema whose references are the names of components, which ajv then knows. It learns only those that a test needs, because
 * reading all of them takes a fifth of a second in each test file.
 */
function inContract(schema: object): object {
  const text = JSON.stringify(closed(schema));
  for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"/]+)"/g)) {
    if (known.has(name)) continue;
    known.add(name);
    ajv.addSchema(inContract(components[name]!), name);
  }
  return JSON.parse(text.replaceAll('"#/components/schemas/', '"')) as object;
}
