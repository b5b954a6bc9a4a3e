import { Global, Inject, Module, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { TracingSettings } from '../config/tracing-settings';
import { optionalPackages } from './optional-packages';
import { type OpenTelemetry, OtlpTracing } from './otlp-tracing';
import { Tracing } from './tracing';

/** Provides `Tracing`. Without an endpoint it provides undefined, loads no package and wraps no call. */
@Global()
@Module({
  providers: [{ provide: Tracing, inject: [TracingSettings], useFactory: openTracing }],
  exports: [Tracing],
})
export class TracingModule implements OnApplicationShutdown {
  constructor(@Optional() @Inject(Tracing) private readonly tracing: Tracing | undefined) {}

  async onApplicationShutdown(): Promise<void> {
    await this.tracing?.close();
  }
}

async function openTracing({ url }: TracingSettings): Promise<Tracing | undefined> {
  if (url === undefined) return undefined;
  const what = 'an endpoint for traces is set (OTEL_EXPORTER_OTLP_…ENDPOINT)';
  return OtlpTracing.open(await optionalPackages(what, load), url);
}

async function load(): Promise<OpenTelemetry> {
  const [api, exporter, resources, sdk] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-node'),
  ]);
  return { api, exporter, resources, sdk };
}
