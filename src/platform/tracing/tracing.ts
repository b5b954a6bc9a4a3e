import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** For the log. They are set only if tracing is on. Otherwise the access log reads the traceparent of the caller. */
    traceId?: string;
    spanId?: string;
  }
}

export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

export interface SpanOptions {
  /** Constants only, such as the name of a system or a provider. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** `client` (the default) waits for another system. `internal` works or waits in this process. */
  readonly kind?: 'client' | 'internal';
  /** Starts a new trace, for work that serves several requests. */
  readonly root?: boolean;
}

/**
 * Makes spans of requests and of the calls that they wait for. Names and attributes are route patterns and statements
 * with placeholders, never values.
 */
export abstract class Tracing {
  /**
   * Makes a span for each request, as a child of the caller's span (`traceparent`). Call it before routes are
   * registered.
   */
  abstract watch(fastify: FastifyInstance): void;

  /** Runs the work in a span of the current request. Without a request there is no span, unless `root` is set. */
  abstract span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T>;

  /** The span in which the caller runs, for its log lines. Undefined outside of a request. */
  abstract currentIds(): SpanIds | undefined;

  /** Sends the remaining spans, in bounded time. */
  abstract close(): Promise<void>;
}
