import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DomainError } from '../../shared/errors/domain-error';
import { mediaTypeUnsupported, requestInvalid } from '../../shared/errors/error-catalogue';
import { Marked, marksOf, type RouteMarks } from './route-marks';
import { leaveUnread } from './unread-body';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** secure-json-parse refuses only `__proto__` and `constructor.prototype`, so it lets `{"constructor": 1}` through. */
const prototypeKeys = new Set(['__proto__', 'constructor', 'prototype']);
/** The bodies of the contract are flat. A deep body could overflow the stack of code that walks it. */
const maxDepth = 20;

const form = 'application/x-www-form-urlencoded';

const csv = 'text/csv';

/** The route takes a form as its body instead of JSON. */
export const FormBody = (): MethodDecorator => Marked({ formBody: true });

/**
 * Accepts JSON in UTF-8 only, and forms or CSV where the route asks for them (docs/spec/attacks.md#w43). Other media types,
 * charsets and content codings are refused before parsing. Invalid UTF-8, a byte order mark, a key of prototype
 * pollution and anything but an object are COMMON_400001. An empty body and `null` count as no body.
 */
export function acceptBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addHook('onRoute', (route) => {
    const { largestBody, lateBody } = (route.config ?? {}) as RouteMarks;
    if (largestBody !== undefined) route.bodyLimit = largestBody;
    if (lateBody !== undefined) route.preParsing = leaveUnread;
  });
  // The handler reads the file, after the guards: nobody else makes the service hold it in memory.
  fastify.addContentTypeParser(csv, (request, body, done) => {
    try {
      assertMediaType(request, csv);
      assertPlainUtf8(request);
      done(null, body);
    } catch (error) {
      done(error as Error);
    }
  });
  for (const [mediaType, parse] of [
    ['application/json', parsedJson],
    [form, parsedForm],
  ] as const) {
    fastify.addContentTypeParser(mediaType, { parseAs: 'buffer' }, (request, body, done) => {
      try {
        assertMediaType(request, mediaType);
        assertPlainUtf8(request);
        done(null, body.length === 0 ? undefined : parse(body as Buffer));
      } catch (error) {
        done(error as Error);
      }
    });
  }
}

function assertMediaType(request: FastifyRequest, mediaType: string): void {
  const { formBody, csvBody } = marksOf(request);
  const taken = csvBody !== undefined ? csv : formBody === true ? form : 'application/json';
  if (taken !== mediaType) throw new DomainError(mediaTypeUnsupported);
}

/** @throws DomainError COMMON_415001 for another charset or a content coding */
export function assertPlainUtf8(request: FastifyRequest): void {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
  const coding = request.headers['content-encoding'];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw new DomainError(mediaTypeUnsupported);
  if (coding !== undefined && coding !== 'identity') throw new DomainError(mediaTypeUnsupported);
}

/** @throws DomainError COMMON_400001 for anything but one JSON object */
export function parsedJson(body: Buffer): unknown {
  const value = parseJson(body);
  if (typeof value !== 'object' || Array.isArray(value)) refuse('must be a JSON object');
  if (isDeeperThan(maxDepth, value)) refuse(`must not be nested deeper than ${maxDepth} levels`);
  return value ?? undefined;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body), (key, value: unknown) => {
      if (prototypeKeys.has(key)) throw new SyntaxError('a key of prototype pollution');
      return value;
    });
  } catch {
    refuse('must be well-formed JSON');
  }
}

/** A field that is repeated would be read differently by two programs (RFC 6749 §3.1). */
function parsedForm(body: Buffer): unknown {
  const fields = [...new URLSearchParams(decoded(body))];
  if (new Set(fields.map(([name]) => name)).size < fields.length) refuse('must not repeat a field');
  if (fields.some(([name]) => prototypeKeys.has(name))) refuse('must not have a field of this name');
  return Object.fromEntries(fields);
}

function decoded(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    refuse('must be UTF-8');
  }
}

function refuse(why: string): never {
  throw new DomainError(requestInvalid, { fields: { body: [why] } });
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member));
}
