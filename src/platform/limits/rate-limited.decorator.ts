import { Reflector } from '@nestjs/core';
import type { ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { identityKey } from '../../shared/identity-key';

/** Groups of routes that share a limit. Each has a setting `RATE_LIMIT_…`. */
export type LimitGroup = 'login' | 'otp' | 'captcha' | 'forgotPassword' | 'introspection' | 'other';

export type LimitedRequest = Pick<FastifyRequest, 'body' | 'params' | 'client'>;

/** Returns the target of a request, such as an e-mail address, in canonical form, or undefined if there is none. */
export type TargetOf = (request: LimitedRequest) => string | undefined;

/** Returns the group of a request, for a route whose requests cost differently. The body is not validated yet. */
export type GroupOf = (request: LimitedRequest) => LimitGroup;

export interface RouteLimit {
  /** Undefined: the route is not limited. */
  readonly group: LimitGroup | GroupOf | undefined;
  readonly target?: TargetOf;
}

const RouteLimit = Reflector.createDecorator<RouteLimit>();

/**
 * `@RateLimited('login')`: sets the group in which the requests of an address to this route are counted. Routes without
 * this decorator count as `other`.
 * @param target counts the requests about one target as well, from all addresses together
 */
export function RateLimited(group: LimitGroup | GroupOf, target?: TargetOf): MethodDecorator {
  return RouteLimit({ group, target });
}

/** For probes and for routes that cost nothing, because an orchestrator or a gateway must never get 429. */
export function NotRateLimited(): ClassDecorator {
  return RouteLimit({ group: undefined });
}

const reflector = new Reflector();
const known = new WeakMap<object, RouteLimit>();

/** Reads the metadata of a route once. A method that handles requests belongs to one controller. */
export function limitOf(context: ExecutionContext): RouteLimit {
  const handler = context.getHandler();
  const found = known.get(handler);
  if (found !== undefined) return found;
  const declared = reflector.getAllAndOverride(RouteLimit, [handler, context.getClass()]) as RouteLimit | undefined;
  const limit = declared ?? { group: 'other' };
  known.set(handler, limit);
  return limit;
}

/** The target is a field of the body. */
export const bodyField =
  (name: string): TargetOf =>
  ({ body }) =>
    canonicalField(body, name);

/** The target is a parameter of the path. */
export const pathParameter =
  (name: string): TargetOf =>
  ({ params }) =>
    canonicalField(params, name);

/** A text field in its canonical form. Undefined for everything else: the body is not validated yet. */
export function canonicalField(fields: unknown, name: string): string | undefined {
  const value = (fields as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof value === 'string' ? identityKey(value) : undefined;
}
