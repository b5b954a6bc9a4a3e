import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { DomainError } from '../../shared/errors/domain-error';
import { methodNotAllowed } from '../../shared/errors/error-catalogue';
import { sendError } from './error-envelope';
import type { RouteMarks } from './route-marks';

const common: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The `Allow` header if no route is known. */
export const anyMethod = 'GET, HEAD, POST';

/**
 * Answers 405 with `Allow` instead of 404 if the path exists with another method (RFC 9110 §15.5.6), and on every path
 * for methods that no route has (TRACE, PROPFIND). Call it before the routes are registered, and `close` afterwards.
 */
export function answerOtherMethods(fastify: FastifyInstance): { close(): void } {
  const methods = new Map<string, Set<string>>();
  const besideIds = new Set<string>();
  fastify.addHook('onRoute', (route) => {
    const marks = (route.config ?? {}) as RouteMarks;
    if (marks.besideIds) besideIds.add(route.url);
    const known = methods.get(route.url) ?? new Set<string>();
    for (const method of [route.method].flat()) known.add(method);
    methods.set(route.url, known);
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    if ((common as readonly string[]).includes(request.method)) done();
    else refuse(request, reply, anyMethod);
  });
  return {
    close: () => {
      for (const [url, known] of [...methods]) {
        if (url.includes('*')) continue;
        const allow = [...known].join(', ');
        for (const method of common.filter((one) => !known.has(one))) {
          if (besideIds.has(url) || fastify.hasRoute({ url, method })) continue;
          fastify.route({
            method,
            url,
            // In `onRequest`, so that a body of a wrong type or size does not change the answer.
            onRequest: (request, reply) => refuse(request, reply, allow),
            handler: () => undefined,
          });
        }
      }
    },
  };
}

function refuse(request: FastifyRequest, reply: FastifyReply, allow: string): void {
  reply.header('allow', allow);
  sendError(reply, new DomainError(methodNotAllowed), request.client.language);
}
