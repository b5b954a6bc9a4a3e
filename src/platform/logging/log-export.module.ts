import { Global, Module } from '@nestjs/common';
import { LogExportSettings } from '../config/log-export-settings';
import { optionalPackages } from '../tracing/optional-packages';
import { LogExport } from './log-export';
import { type OpenTelemetryLogs, OtlpLogs } from './otlp-logs';

/**
 * Provides `LogExport`, or undefined without `OTEL_LOGS_EXPORTER`; then no package is loaded. The server closes it after
 * the application, because the last lines come after that.
 */
@Global()
@Module({
  providers: [{ provide: LogExport, inject: [LogExportSettings], useFactory: openLogExport }],
  exports: [LogExport],
})
export class LogExportModule {}

async function openLogExport({ url }: LogExportSettings): Promise<LogExport | undefined> {
  if (url === undefined) return undefined;
  return OtlpLogs.open(await optionalPackages('OTEL_LOGS_EXPORTER is otlp', load), url);
}

async function load(): Promise<OpenTelemetryLogs> {
  const [api, exporter, resources, sdk] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/exporter-logs-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-logs'),
  ]);
  return { api, exporter, resources, sdk };
}
