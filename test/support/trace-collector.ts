import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen, shut, urlOf } from './loopback';

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

export interface ExportedLogRecord {
  readonly timeUnixNano: string;
  readonly severityNumber: number;
  readonly body: AnyValue;
  readonly eventName?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly attributes: readonly KeyValue[];
}

/** AnyValue of the JSON of OTLP. An empty object is null. */
interface AnyValue {
  readonly kvlistValue?: { readonly values: readonly KeyValue[] };
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
}

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

/** A collector on loopback that keeps what is posted to it (OTLP over HTTP). */
export class TraceCollector {
  readonly posts: { readonly path: string; readonly body: any }[] = [];
  readonly headers: IncomingHttpHeaders[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    const collector = new TraceCollector(server);
    server.on('request', (request, response) => {
      void json(request).then((body) => {
        collector.headers.push(request.headers);
        collector.posts.push({ path: String(request.url), body });
        response.end('{}');
      });
    });
    await listen(server);
    return collector;
  }

  get endpoint(): string {
    return urlOf(this.server);
  }

  get spans(): ExportedSpan[] {
    return this.posts.flatMap(({ body }) =>
      (body.resourceSpans ?? []).flatMap((one: any) =>
        one.scopeSpans.flatMap((scope: any) => scope.spans as ExportedSpan[]),
      ),
    );
  }

  get logRecords(): ExportedLogRecord[] {
    return this.posts.flatMap(({ body }) =>
      (body.resourceLogs ?? []).flatMap((one: any) =>
        one.scopeLogs.flatMap((scope: any) => scope.logRecords as ExportedLogRecord[]),
      ),
    );
  }

  /** All spans of one trace: the trace of the first span that has this name and for which `fits` is true. */
  traceOf(name: string, fits: (span: ExportedSpan) => boolean = () => true): ExportedSpan[] {
    const first = this.spans.find((span) => span.name === name && fits(span));
    return this.spans.filter(({ traceId }) => traceId === first?.traceId);
  }

  stop(): Promise<void> {
    return shut(this.server);
  }
}

export function attributesOf({ attributes }: ExportedSpan): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** The log line from which a record was made, as it would be on standard output. */
export function lineOf(record: ExportedLogRecord): Record<string, unknown> {
  const { traceId, spanId, eventName } = record;
  return {
    ...objectOf(record.attributes),
    // Severity 1, 5, 9 … is level 10, 20, 30 …
    level: ((record.severityNumber - 1) / 4) * 10 + 10,
    time: new Date(Number(BigInt(record.timeUnixNano) / 1_000_000n)).toISOString(),
    ...(eventName === undefined ? { msg: valueOf(record.body) } : {}),
    ...(traceId === undefined ? {} : { traceId, spanId }),
  };
}

const objectOf = (pairs: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, valueOf(value)]));

function valueOf(value: AnyValue): unknown {
  if (value.kvlistValue) return objectOf(value.kvlistValue.values);
  if (value.arrayValue) return value.arrayValue.values.map(valueOf);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? null;
}
