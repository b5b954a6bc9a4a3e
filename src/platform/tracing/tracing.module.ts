import { Global, Inject, Module, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { TracingSettings } from '../config/tracing-settings';
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

async function openTracing(tracing: TracingSettings): Promise<Tracing | undefined> {
  return tracing.url === undefined ? undefined : OtlpTracing.open(await load(), tracing.url);
}

/** @throws Error if the optional packages are not installed */
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
    throw new Error(
      'an endpoint for traces is set (OTEL_EXPORTER_OTLP_…ENDPOINT), but the packages of OpenTelemetry are missing: ' +
        'install the optional dependencies, or remove the setting',
      { cause },
    );
  }
}
