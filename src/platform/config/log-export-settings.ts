import { readOtlpEndpoint } from './otlp-endpoint';
import type { SettingsReader } from './settings-reader';

/** Log lines go to standard output alone unless `OTEL_LOGS_EXPORTER` is `otlp`. */
export abstract class LogExportSettings {
  /** The address to which log records are posted. Undefined: none are, and the packages are not loaded. */
  abstract readonly url: string | undefined;
}

/** The packages of OpenTelemetry read the other variables themselves (service name, resource attributes, headers, time-out). */
export function readLogExportSettings(env: SettingsReader): LogExportSettings {
  env.mention('OTEL_EXPORTER_OTLP_LOGS_ENDPOINT');
  // An address that only another program uses must not stop the start.
  if (env.choice('OTEL_LOGS_EXPORTER', ['none', 'otlp'], 'none') === 'none') return { url: undefined };
  const url = readOtlpEndpoint(env, 'logs');
  if (url === undefined && !env.flag('OTEL_SDK_DISABLED', false)) {
    env.problem(
      'OTEL_LOGS_EXPORTER',
      'is otlp, so OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_LOGS_ENDPOINT is required',
    );
  }
  return { url };
}
