import type { AppConfig } from '../config/app-config';
import { type OpenTelemetry, OtlpTracing } from './otlp-tracing';
import type { Tracing } from './tracing';

/**
 * Undefined where no endpoint is set: nothing is loaded then, and no call is wrapped.
 * @throws Error where one is set and the optional packages are not installed.
 */
export async function openTracing({ tracing }: AppConfig): Promise<Tracing | undefined> {
  return tracing.url === undefined ? undefined : OtlpTracing.open(await load(), tracing.url);
}

async function load(): Promise<OpenTelemetry> {
  try {
    const [api, exporter, resources, sdk] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace-node'),
    ]);
    return { api, exporter, resources, sdk };
  } catch (cause) {
    throw new Error('OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages of OpenTelemetry are missing', { cause });
  }
}
