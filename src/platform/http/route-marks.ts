import 'reflect-metadata';
import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import type { FastifyRequest } from 'fastify';

/** What a route says about itself. It is in the configuration of the Fastify route, so a request looks up no metadata. */
export interface RouteMarks {
  /** A success has no envelope. */
  readonly ownFormat?: true;
  /** The body is a form instead of JSON. */
  readonly formBody?: true;
  /** The check of the token also reads the account. */
  readonly account?: true;
}

/** Adds the marks to those that the handler has: RouteConfig alone would replace them. */
export function markRoute(handler: object, marks: RouteMarks): void {
  const former = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as RouteMarks | undefined;
  RouteConfig({ ...former, ...marks })(handler as () => unknown);
}

export function Marked(marks: RouteMarks): MethodDecorator {
  return (_prototype, _name, descriptor) => markRoute(descriptor.value as object, marks);
}

export const marksOf = (request: FastifyRequest): RouteMarks => request.routeOptions.config as RouteMarks;
