import type { SettingsReader } from './settings-reader';

const web = ['http:', 'https:'];

const ownEndpoints = {
  traces: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  logs: 'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT',
} as const;

/**
 * The address to which a signal is posted: that of the signal itself, or the path of the signal at the address of all
 * signals. Undefined: neither is set, or `OTEL_SDK_DISABLED` switches every signal off.
 */
export function readOtlpEndpoint(env: SettingsReader, signal: keyof typeof ownEndpoints): string | undefined {
  const own = ownEndpoints[signal];
  env.mention('OTEL_EXPORTER_OTLP_ENDPOINT', own);
  if (env.flag('OTEL_SDK_DISABLED', false)) return undefined;
  if (env.optional(own) !== undefined) return env.url(own, web);
  if (env.optional('OTEL_EXPORTER_OTLP_ENDPOINT') === undefined) return undefined;
  return `${env.url('OTEL_EXPORTER_OTLP_ENDPOINT', web)}/v1/${signal}`;
}
