import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { DomainError } from '../../shared/errors/domain-error';
import { methodNotAllowed } from '../../shared/errors/error-catalogue';
import { sendError } from './error-envelope';
import type { RouteMarks } from './route-marks';

/** Fastify adds HEAD wherever there is GET, and sends no body. No route of the API sets `exposeHeadRoute: false`. */
const registered: HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const common: readonly string[] = [...registered, 'HEAD'];

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
    if (common.includes(request.method)) done();
    else refuse(request, reply, anyMethod);
  });
  return {
    close: () => {
      for (const [url, known] of [...methods]) {
        if (url.includes('*') || besideIds.has(url)) continue;
        const others = registered.filter((method) => !known.has(method) && !fastify.hasRoute({ url, method }));
        if (others.length === 0) continue;
        const allow = [...known].join(', ');
        // One route for all of them: a route for each took a tenth of the processor time of a start with everything on.
        fastify.route({
          method: others,
          url,
          // In `onRequest`, so that a body of a wrong type or size does not change the answer.
          onRequest: (request, reply) => refuse(request, reply, allow),
          handler: () => undefined,
        });
      }
    },
  };
}

function refuse(request: FastifyRequest, reply: FastifyReply, allow: string): void {
  reply.header('allow', allow);
  sendError(reply, new DomainError(methodNotAllowed), request.client.language);
}
