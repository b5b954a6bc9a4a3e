import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { parseTraceparent } from '../tracing/traceparent';

/**
 * Logs one line for each request, with fields of an allow-list: never a header, a query or a body. The pattern of the
 * route replaces the path, because the path of a reset link contains its token. Health probes are logged at debug only.
 * A refusal because the database or another server is away has its reason in the same line.
 */
export function logRequests(fastify: FastifyInstance, logger: Logger): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const level = route.includes('/health/') ? 'debug' : reply.statusCode >= 500 ? 'warn' : 'info';
    const caller = parseTraceparent(request.headers.traceparent);
    logger[level](
      {
        context: 'http',
        requestId: request.id,
        traceId: request.traceId ?? caller?.traceId,
        spanId: request.spanId ?? caller?.spanId,
        method: request.method,
        route,
        status: reply.statusCode,
        errorCode: reply.errorCode,
        err: reply.outage,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: request.client?.ip,
      },
      'request',
    );
    done();
  });
}
