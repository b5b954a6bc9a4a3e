import { type DynamicModule, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { AppConfig } from '../config/app-config';
import { KeyRing } from '../crypto/key-ring';
import { limitsOf, RateLimitGuard } from './rate-limit.guard';
import { LocalCounters } from './local-counters';
import { SharedCounters } from './shared-counters';

/** `RATE_LIMIT=on`; with `off` none of this is loaded, and no request pays for it. */
@Module({})
export class LimitsModule {
  static with({ limits, redisUrl }: AppConfig): DynamicModule {
    if (!limits.on) return { module: LimitsModule };
    const counters = async () => (redisUrl === undefined ? new LocalCounters() : SharedCounters.open(redisUrl));
    return {
      module: LimitsModule,
      imports: [
        ThrottlerModule.forRootAsync({
          inject: [AppConfig, KeyRing],
          useFactory: async (config: AppConfig, keys: KeyRing) => limitsOf(config, keys, await counters()),
        }),
      ],
      providers: [{ provide: APP_GUARD, useClass: RateLimitGuard }],
    };
  }
}
