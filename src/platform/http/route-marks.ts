import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import type { FastifyRequest } from 'fastify';

/** What a route says about itself. It is in the configuration of the Fastify route, so a request looks up no metadata. */
export interface RouteMarks {
  /** A success has no envelope. */
  readonly ownFormat?: true;
  /** The body is a form instead of JSON. */
  readonly formBody?: true;
  /** The body is a file of this many bytes at most, which the handler reads (`readCsvBody`). */
  readonly csvBody?: number;
  /** The body may have this many bytes, instead of the 16 KiB of other routes. */
  readonly largestBody?: number;
  /** The last part of the path is an id as well: other methods have a route with a parameter there, and go on to it. */
  readonly besideIds?: true;
  /** The handler reads the body, of this class, after the guards (`LateBody`). */
  readonly lateBody?: Type<object>;
  /** The check of the token also reads the account. */
  readonly account?: true;
  /** The check of the token also reads the names of the groups. */
  readonly groups?: true;
}

/** Adds the marks to those that the handler has: RouteConfig alone would replace them. */
export function markRoute(handler: object, marks: RouteMarks): void {
  RouteConfig({ ...marksOfHandler(handler), ...marks })(handler as () => unknown);
}

export const marksOfHandler = (handler: object): RouteMarks =>
  (Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as RouteMarks | undefined) ?? {};

export function Marked(marks: RouteMarks): MethodDecorator {
  return (_prototype, _name, descriptor) => markRoute(descriptor.value as object, marks);
}

export const marksOf = (request: FastifyRequest): RouteMarks => request.routeOptions.config as RouteMarks;
