import { AsyncLocalStorage } from 'node:async_hooks';
import type { Context, Span } from '@opentelemetry/api';
import type { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { FastifyInstance } from 'fastify';
import { version } from '../version';
import { serviceResource } from './service-resource';
import { parseTraceparent } from './traceparent';
import { type SpanIds, type SpanOptions, Tracing } from './tracing';

const closeMs = 2000;

/** The optional packages. The caller loads them. */
export interface OpenTelemetry {
  readonly api: typeof import('@opentelemetry/api');
  readonly exporter: typeof import('@opentelemetry/exporter-trace-otlp-http');
  readonly resources: typeof import('@opentelemetry/resources');
  readonly sdk: typeof import('@opentelemetry/sdk-trace-node');
}

/**
 * OpenTelemetry without its globals and without the instrumentations that replace modules when they are loaded. The few
 * places where a request spends its time call `span` themselves (ADR 0013).
 */
export class OtlpTracing extends Tracing {
  private readonly current = new AsyncLocalStorage<Context>();
  private readonly tracer;

  private constructor(
    private readonly api: OpenTelemetry['api'],
    private readonly provider: NodeTracerProvider,
  ) {
    super();
    this.tracer = provider.getTracer('portal-authentication', version);
  }

  static open({ api, exporter, resources, sdk }: OpenTelemetry, url: string): OtlpTracing {
    const resource = serviceResource(resources);
    const spanProcessors = [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter({ url }))];
    return new OtlpTracing(api, new sdk.NodeTracerProvider({ resource, spanProcessors }));
  }

  watch(fastify: FastifyInstance): void {
    const { SpanKind, SpanStatusCode, trace } = this.api;
    const spans = new WeakMap<object, Span>();
    fastify.addHook('onRequest', (request, _reply, done) => {
      const route = request.routeOptions.url ?? 'unmatched';
      if (route.includes('/health/')) return done();
      const parent = this.parentOf(request.headers.traceparent);
      const span = this.tracer.startSpan(
        `${request.method} ${route}`,
        {
          kind: SpanKind.SERVER,
          attributes: { 'http.request.method': request.method, 'http.route': route, 'request.id': request.id },
        },
        parent,
      );
      spans.set(request, span);
      const { traceId, spanId } = span.spanContext();
      Object.assign(request, { traceId, spanId });
      // `done` continues the request, so the rest of the request runs in this context.
      this.current.run(trace.setSpan(parent, span), done);
    });
    fastify.addHook('onResponse', (request, reply, done) => {
      const span = spans.get(request);
      span?.setAttribute('http.response.status_code', reply.statusCode);
      if (reply.errorCode !== undefined) span?.setAttribute('error.type', reply.errorCode);
      if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
      span?.end();
      done();
    });
  }

  async span<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
    const { attributes = {}, kind = 'client', root = false } = options;
    const { ROOT_CONTEXT, SpanKind } = this.api;
    const parent = root ? ROOT_CONTEXT : this.current.getStore();
    if (parent === undefined) return work();
    const kinds = { client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
    const span = this.tracer.startSpan(name, { kind: kinds[kind], attributes }, parent);
    try {
      return await this.current.run(this.api.trace.setSpan(parent, span), work);
    } catch (error) {
      // Not the message, because the messages of drivers quote values.
      span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
      span.setStatus({ code: this.api.SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  currentIds(): SpanIds | undefined {
    const context = this.current.getStore();
    return context && this.api.trace.getSpanContext(context);
  }

  /** A collector that does not answer must not delay the end of the process. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, closeMs)));
    await Promise.race([this.provider.shutdown().catch(() => undefined), enough]);
    clearTimeout(timer);
  }

  private parentOf(header: unknown): Context {
    const { ROOT_CONTEXT, trace, TraceFlags } = this.api;
    const remote = parseTraceparent(header);
    if (remote === undefined) return ROOT_CONTEXT;
    const { traceId, spanId, sampled } = remote;
    const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
    return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
  }
}
