import * as catalogue from '../../../src/shared/errors/error-catalogue';
import { assertDeclaredAnswer } from '../contract';
import type { ReadAnswer } from './answer-reader';
import type { RequestLine } from './framing';
import { urlOf } from '../../../src/shared/url-text';

/** The status and the code of a request that the parser or the first hook refuses, on whatever path it is. */
const refusals: Readonly<Record<number, string>> = {
  400: 'COMMON_400001',
  405: 'COMMON_405001',
  408: 'COMMON_400001',
  431: 'COMMON_413001',
};

const codes = new Set(
  Object.values(catalogue)
    .map((entry) => (entry as { readonly code?: unknown }).code)
    .filter((code) => typeof code === 'string'),
);

/**
 * Says what is wrong with an answer, or undefined.
 * @param request what it answers, if that can be told
 */
export function faultOf(answer: ReadAnswer, request?: RequestLine): string | undefined {
  const { status, headers } = answer;
  if (status >= 500) return `status ${status}: ${answer.body.toString().slice(0, 300)}`;
  if (headers['cache-control'] === undefined) return `an answer ${status} without Cache-Control`;
  if (headers['x-content-type-options'] !== 'nosniff') return `an answer ${status} without nosniff`;
  const isJson = headers['content-type']?.startsWith('application/json') === true;
  let body: unknown;
  try {
    body = isJson && answer.body.length > 0 ? JSON.parse(answer.body.toString()) : undefined;
  } catch {
    return `an answer ${status} whose JSON is not well formed`;
  }
  const isHead = request?.method === 'HEAD' || (request === undefined && answer.body.length === 0);
  if (status >= 400 && !isHead && !isNotFoundPage(answer, request)) {
    const wrong = faultOfError(status, body);
    if (wrong !== undefined) return wrong;
  }
  if (isRefusal(answer, body)) return undefined;
  return request === undefined ? undefined : undeclared(request, answer, body);
}

/** A browser gets the "not found" page for an unknown path (`PORTAL`). */
function isNotFoundPage({ status, headers, body }: ReadAnswer, request?: RequestLine): boolean {
  if (status !== 404 || (request !== undefined && request.method !== 'GET')) return false;
  return headers['content-type'] === 'text/html; charset=utf-8' && /^<!doctype html>/i.test(body.toString());
}

/** Whether the answer is the last one on its connection, to bytes that no route has seen. */
function isRefusal({ status, headers }: ReadAnswer, body: unknown): boolean {
  if (headers.connection !== 'close' || refusals[status] === undefined) return false;
  // An answer to HEAD has no body.
  return body === undefined || (body as { error_code?: unknown }).error_code === refusals[status];
}

function faultOfError(status: number, body: unknown): string | undefined {
  const { error_code: code, msg, data, ...others } = (body ?? {}) as Record<string, unknown>;
  // The answer to a service that introspects with wrong credentials (RFC 6749 §5.2).
  if (status === 401 && others.error === 'invalid_client') return undefined;
  // The answer to a wrong logout token of an identity provider (OpenID Connect Back-Channel Logout 1.0 section 2.8).
  if (status === 400 && code === undefined && others.error === 'invalid_request') return undefined;
  const expected = typeof code === 'string' && codes.has(code) && typeof msg === 'string' && msg !== '';
  const fits = expected && (code.includes(`_${status}`) || refusals[status] === code);
  if (fits && Object.keys(others).length === 0 && (data === undefined || typeof data === 'object')) return undefined;
  return `an answer ${status} without an error of the catalogue: ${JSON.stringify(body)?.slice(0, 300)}`;
}

function undeclared({ method, target }: RequestLine, answer: ReadAnswer, body: unknown): string | undefined {
  const path = target.split('?', 1)[0]!;
  // The router refuses a path that it cannot decode, whatever the method is.
  if (!isDecodable(path)) return undefined;
  // `URL` resolves dot segments and more, and the router does not.
  if (urlOf(path, 'http://service')?.pathname !== path) return undefined;
  try {
    assertDeclaredAnswer({ method, url: target, status: answer.status, headers: answer.headers, body });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
