import { readOtlpEndpoint } from './otlp-endpoint';
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
  return { url: readOtlpEndpoint(env, 'traces') };
}
