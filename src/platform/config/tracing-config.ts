import type { SettingsReader } from './settings-reader';

/** The endpoint decides whether there are traces at all. */
export interface TracingConfig {
  /** Where spans are posted to; undefined: no tracing, and nothing of it is loaded. */
  readonly url: string | undefined;
}

/**
 * The variables that OpenTelemetry names. What else it knows by environment (service name, resource attributes, sampler,
 * headers, batches) its own packages read.
 */
export function readTracingConfig(env: SettingsReader): TracingConfig {
  env.mention('OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const web = ['http:', 'https:'];
  if (env.flag('OTEL_SDK_DISABLED', false)) return { url: undefined };
  if (env.optional('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== undefined) {
    return { url: env.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', web) };
  }
  if (env.optional('OTEL_EXPORTER_OTLP_ENDPOINT') === undefined) return { url: undefined };
  return { url: `${env.url('OTEL_EXPORTER_OTLP_ENDPOINT', web)}/v1/traces` };
}
