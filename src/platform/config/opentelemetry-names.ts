import { misspelt } from './did-you-mean';

const exporter = ['ENDPOINT', 'HEADERS', 'TIMEOUT', 'COMPRESSION', 'CERTIFICATE', 'CLIENT_KEY', 'CLIENT_CERTIFICATE'];

/** The variables of OpenTelemetry that have an effect here: those that the service or its packages read. */
export const effectiveNames: readonly string[] = [
  ...['OTEL_SDK_DISABLED', 'OTEL_LOGS_EXPORTER', 'OTEL_SERVICE_NAME', 'OTEL_RESOURCE_ATTRIBUTES'],
  ...['', 'TRACES_', 'LOGS_'].flatMap((signal) => exporter.map((part) => `OTEL_EXPORTER_OTLP_${signal}${part}`)),
  ...['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'],
  ...['SCHEDULE_DELAY', 'EXPORT_TIMEOUT', 'MAX_QUEUE_SIZE', 'MAX_EXPORT_BATCH_SIZE'].map((name) => `OTEL_BSP_${name}`),
  ...['VALUE_LENGTH', 'COUNT'].flatMap((limit) => [
    `OTEL_ATTRIBUTE_${limit}_LIMIT`,
    `OTEL_SPAN_ATTRIBUTE_${limit}_LIMIT`,
  ]),
  ...['LINK', 'EVENT', 'ATTRIBUTE_PER_LINK', 'ATTRIBUTE_PER_EVENT'].map((part) => `OTEL_SPAN_${part}_COUNT_LIMIT`),
];

/**
 * Returns the variable that a name with `OTEL_` probably means. An operator of Kubernetes sets names that only programs in other
 * languages read, and OpenTelemetry adds names, so such a name is told and never stops the start. `OTEL_SDK_ENABLED` is the opposite
 * of the name that it looks like.
 */
export function meantOpenTelemetryName(name: string): string | undefined {
  const typed = name.toUpperCase().replaceAll('-', '_');
  if (!typed.startsWith('OTEL_') || typed === 'OTEL_SDK_ENABLED' || effectiveNames.includes(name)) return undefined;
  return effectiveNames.find((one) => misspelt(typed, one));
}
