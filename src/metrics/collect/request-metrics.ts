import type { FastifyInstance } from 'fastify';
import type { Counter, Histogram, Registry } from 'prom-client';
import { internalError } from '../../shared/errors/error-catalogue';

type Prometheus = typeof import('prom-client');

/** Histogram buckets in seconds, from a refused request (1 ms) to the longest wait in the hash queue (under 10 s). */
const buckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Requests by route pattern and status, failures by error code. A value that a client chooses is never a label. */
export class RequestMetrics {
  private readonly durations: Histogram<'method' | 'route' | 'status'>;
  private readonly errors: Counter<'route' | 'error_code'>;

  constructor(prometheus: Prometheus, registry: Registry) {
    this.durations = new prometheus.Histogram({
      name: 'auth_http_request_duration_seconds',
      help: 'Time from the request to the end of the response, by route pattern.',
      labelNames: ['method', 'route', 'status'],
      buckets,
      registers: [registry],
    });
    this.errors = new prometheus.Counter({
      name: 'auth_error_answers_total',
      help: 'Error responses by error_code.',
      labelNames: ['route', 'error_code'],
      registers: [registry],
    });
  }

  /** Call it before the routes are registered: a Fastify hook applies only to later routes. */
  watch(fastify: FastifyInstance): void {
    // Prometheus sees an increase only from a value that it has scraped, so each route starts with a counter of 0 for
    // the internal error. The alert AuthenticationBug needs this.
    const begin = (route: string) => this.errors.inc({ route, error_code: internalError.code }, 0);
    begin('unmatched');
    fastify.addHook('onRoute', ({ url }) => begin(url));
    fastify.addHook('onResponse', (request, reply, done) => {
      // Unknown paths have no pattern. All of them share one route label and one method label, to bound the series.
      const route = request.routeOptions.url;
      const method = route === undefined ? 'any' : request.method;
      const labels = { method, route: route ?? 'unmatched', status: reply.statusCode };
      this.durations.observe(labels, reply.elapsedTime / 1000);
      if (reply.errorCode !== undefined) this.errors.inc({ route: labels.route, error_code: reply.errorCode });
      done();
    });
  }
}
