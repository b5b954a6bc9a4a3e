import { Logger } from '@nestjs/common';
import type { LoggerProvider, LogRecordExporter } from '@opentelemetry/sdk-logs';
import { serviceResource } from '../tracing/service-resource';
import { version } from '../version';
import { LogExport } from './log-export';
import { recordOfLine } from './log-record';

/** The optional packages. The caller loads them. */
export interface OpenTelemetryLogs {
  readonly api: typeof import('@opentelemetry/api');
  readonly exporter: typeof import('@opentelemetry/exporter-logs-otlp-http');
  readonly resources: typeof import('@opentelemetry/resources');
  readonly sdk: typeof import('@opentelemetry/sdk-logs');
}

/** A usual line has 300 bytes, and the longest audit line 4 KiB: 2,048 of them are a few megabytes. */
const bounds = { waiting: 2048, batch: 512, closeMs: 2000 };

/**
 * Log records over OTLP/HTTP, in the batches of the SDK and without its globals (ADR 0052). The SDK itself is silent
 * when its queue is full or the collector refuses a batch. This class counts what waits, drops a line before the queue of
 * the SDK is full, and counts what was dropped or refused.
 */
export class OtlpLogs extends LogExport {
  private readonly own = new Logger('log-export');
  private readonly provider: LoggerProvider;
  private readonly logger;
  private waiting = 0;
  private lost = 0;
  private losing = false;

  constructor(
    private readonly packages: Pick<OpenTelemetryLogs, 'api' | 'resources' | 'sdk'>,
    exporter: LogRecordExporter,
    private readonly limits = bounds,
  ) {
    super();
    const { resources, sdk } = packages;
    const processor = new sdk.BatchLogRecordProcessor({
      exporter: this.counted(exporter),
      maxQueueSize: limits.waiting,
      maxExportBatchSize: limits.batch,
    });
    this.provider = new sdk.LoggerProvider({ resource: serviceResource(resources), processors: [processor] });
    this.logger = this.provider.getLogger('portal-authentication', version);
  }

  static open(packages: OpenTelemetryLogs, url: string): OtlpLogs {
    return new OtlpLogs(packages, new packages.exporter.OTLPLogExporter({ url }));
  }

  get dropped(): number {
    return this.lost;
  }

  add(line: string): void {
    if (this.waiting >= this.limits.waiting) return this.lose(1);
    const read = recordOfLine(line);
    if (read === undefined) return this.lose(1);
    const { trace, ...record } = read;
    this.waiting++;
    const { ROOT_CONTEXT, trace: spans, TraceFlags } = this.packages.api;
    // Always a context, because the SDK would look for its global one.
    const context =
      trace === undefined
        ? ROOT_CONTEXT
        : spans.setSpanContext(ROOT_CONTEXT, { ...trace, traceFlags: TraceFlags.NONE });
    this.logger.emit({ ...record, context });
  }

  /** A collector that does not answer must not delay the end of the process. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.limits.closeMs)));
    await Promise.race([this.provider.shutdown().catch(() => undefined), enough]);
    clearTimeout(timer);
  }

  private counted(exporter: LogRecordExporter): LogRecordExporter {
    return {
      export: (records, done) =>
        exporter.export(records, (result) => {
          this.waiting -= records.length;
          // ExportResultCode.SUCCESS
          if ((result.code as number) === 0) this.recover();
          else this.lose(records.length);
          done(result);
        }),
      forceFlush: () => exporter.forceFlush(),
      shutdown: () => exporter.shutdown(),
    };
  }

  /** The first loss is told in the log, once. That line is counted like any other. */
  private lose(lines: number): void {
    this.lost += lines;
    if (this.losing) return;
    this.losing = true;
    this.own.warn(
      {},
      'the collector takes no log records: they are dropped and counted, standard output has every line',
    );
  }

  private recover(): void {
    if (!this.losing) return;
    this.losing = false;
    this.own.log({ dropped: this.lost }, 'the collector takes log records again');
  }
}
