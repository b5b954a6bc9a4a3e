import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { DomainError } from '../../shared/errors/domain-error';
import { methodNotAllowed } from '../../shared/errors/error-catalogue';
import { sendError } from './error-envelope';

const common: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** `Allow` where there is no path to ask. */
export const anyMethod = 'GET, HEAD, POST';

/**
 * A known path with another method answers 405 with `Allow` instead of 404 (RFC 9110 §15.5.6), and a method that no path
 * has (TRACE, PROPFIND) everywhere. Call before the routes are registered, and `close` when all of them are.
 */
export function answerOtherMethods(fastify: FastifyInstance): { close(): void } {
  const methods = new Map<string, Set<string>>();
  fastify.addHook('onRoute', (route) => {
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
          if (fastify.hasRoute({ url, method })) continue;
          fastify.route({
            method,
            url,
            // Before the body is looked at: nobody will read it, whatever its type and size.
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
