import { Global, Inject, Module, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { AppConfig } from '../config/app-config';
import { openTracing } from './open-tracing';
import { Tracing } from './tracing';

/** `Tracing` is undefined where it is off. */
@Global()
@Module({
  providers: [{ provide: Tracing, inject: [AppConfig], useFactory: (config: AppConfig) => openTracing(config) }],
  exports: [Tracing],
})
export class TracingModule implements OnApplicationShutdown {
  constructor(@Optional() @Inject(Tracing) private readonly tracing: Tracing | undefined) {}

  async onApplicationShutdown(): Promise<void> {
    await this.tracing?.close();
  }
}
