import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** For the log; also without tracing, when the caller sent one. */
    traceId?: string;
  }
}

export interface SpanOptions {
  /** Fixed words only, such as the name of a system or of a provider. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** `client`, the default, waits for another system; `internal` is work or waiting in this process. */
  readonly kind?: 'client' | 'internal';
  /** Starts a trace of its own: for work that a request causes and that serves others as well. */
  readonly root?: boolean;
}

/** Spans of requests and of what they wait for. Names and attributes are patterns and statements with placeholders, never values. */
export abstract class Tracing {
  /** A span for each request, a child of the caller's (`traceparent`). Before the routes are registered. */
  abstract watch(fastify: FastifyInstance): void;

  /** Runs the work within a span of the current request; outside of one there is no span, unless it is a root. */
  abstract span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T>;

  /** Sends what is left, in bounded time. */
  abstract close(): Promise<void>;
}
