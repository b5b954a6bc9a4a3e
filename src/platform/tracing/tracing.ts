import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** For the log; also without tracing, when the caller sent one. */
    traceId?: string;
  }
}

/** Spans of requests and statements. Names and attributes are patterns and statements with placeholders, never values. */
export abstract class Tracing {
  /** A span for each request, a child of the caller's (`traceparent`). Before the routes are registered. */
  abstract watch(fastify: FastifyInstance): void;

  /** Runs the work within a span of the current request; outside of one there is no span. */
  abstract span<T>(name: string, attributes: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T>;

  /** Sends what is left, in bounded time. */
  abstract close(): Promise<void>;
}
