import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { parseTraceparent } from '../tracing/traceparent';

/**
 * One line a request, from an allow-list: the route's pattern instead of the path (a reset link holds its token there),
 * never a header, a query or a body. Health probes only at debug.
 */
export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const level = route.includes('/health/') ? 'debug' : reply.statusCode >= 500 ? 'warn' : 'info';
    logger[level](
      {
        context: 'http',
        requestId: request.id,
        traceId: request.traceId ?? parseTraceparent(request.headers.traceparent)?.traceId,
        method: request.method,
        route,
        status: reply.statusCode,
        errorCode: reply.errorCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: request.client?.ip,
      },
      'request',
    );
    done();
  });
}
