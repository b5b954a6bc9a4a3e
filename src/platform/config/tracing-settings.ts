import type { SettingsReader } from './settings-reader';

/** Traces are off unless an endpoint is set. */
export abstract class TracingSettings {
  /** The address to which spans are posted. Undefined: tracing is off and its packages are not loaded. */
  abstract readonly url: string | undefined;
}

/**
 * Reads the variables of OpenTelemetry that decide whether traces are on. The packages of OpenTelemetry read the other
 * variables themselves (service name, resource attributes, sampler, headers, batches).
 */
export function readTracingSettings(env: SettingsReader): TracingSettings {
  env.mention('OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const web = ['http:', 'https:'];
  if (env.flag('OTEL_SDK_DISABLED', false)) return { url: undefined };
  if (env.optional('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== undefined) {
    return { url: env.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', web) };
  }
  if (env.optional('OTEL_EXPORTER_OTLP_ENDPOINT') === undefined) return { url: undefined };
  return { url: `${env.url('OTEL_EXPORTER_OTLP_ENDPOINT', web)}/v1/traces` };
}
