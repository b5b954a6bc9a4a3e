import type { SettingsReader } from './settings-reader';

const web = ['http:', 'https:'];

/**
 * The address to which a signal is posted: that of the signal itself, or the path of the signal at the address of all
 * signals. Undefined: neither is set, or `OTEL_SDK_DISABLED` switches every signal off.
 */
export function readOtlpEndpoint(env: SettingsReader, signal: 'traces' | 'logs'): string | undefined {
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`;
  env.mention('OTEL_EXPORTER_OTLP_ENDPOINT', own);
  if (env.flag('OTEL_SDK_DISABLED', false)) return undefined;
  if (env.optional(own) !== undefined) return env.url(own, web);
  if (env.optional('OTEL_EXPORTER_OTLP_ENDPOINT') === undefined) return undefined;
  return `${env.url('OTEL_EXPORTER_OTLP_ENDPOINT', web)}/v1/${signal}`;
}
