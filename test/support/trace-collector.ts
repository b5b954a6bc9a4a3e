import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface ExportedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** SpanKind of OTLP: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  /** Code 2 is an error. */
  readonly status: { readonly code?: number };
  readonly attributes: { readonly key: string; readonly value: Record<string, unknown> }[];
}

/** A collector on loopback that keeps what is posted to it (OTLP over HTTP). */
export class TraceCollector {
  readonly posts: { readonly path: string; readonly body: any }[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    const collector = new TraceCollector(server);
    server.on('request', (request, response) => {
      void json(request).then((body) => {
        collector.posts.push({ path: String(request.url), body });
        response.end('{}');
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return collector;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get spans(): ExportedSpan[] {
    return this.posts.flatMap(({ body }) =>
      body.resourceSpans.flatMap((one: any) => one.scopeSpans.flatMap((scope: any) => scope.spans as ExportedSpan[])),
    );
  }

  /** All spans of one trace: the trace of the first span that has this name and for which `fits` is true. */
  traceOf(name: string, fits: (span: ExportedSpan) => boolean = () => true): ExportedSpan[] {
    const first = this.spans.find((span) => span.name === name && fits(span));
    return this.spans.filter(({ traceId }) => traceId === first?.traceId);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}

export function attributesOf({ attributes }: ExportedSpan): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
