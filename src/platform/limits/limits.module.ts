import { type DynamicModule, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { LimitSettings } from '../config/limit-settings';
import { KeyRing } from '../crypto/key-ring';
import { Tracing } from '../tracing/tracing';
import { limitsOf, RateLimitGuard } from './rate-limit.guard';
import { LocalCounters } from './local-counters';
import { SharedCounters } from './shared-counters';

interface Settings {
  readonly limits: LimitSettings;
  readonly redisUrl: string | undefined;
}

/** The rate limits. With `RATE_LIMIT=off` nothing is loaded and requests have no extra cost. */
@Module({})
export class LimitsModule {
  static with({ limits, redisUrl }: Settings): DynamicModule {
    if (!limits.on) return { module: LimitsModule };
    const counters = async (tracing: Tracing | undefined) =>
      redisUrl === undefined ? new LocalCounters() : SharedCounters.open(redisUrl, tracing);
    return {
      module: LimitsModule,
      imports: [
        ThrottlerModule.forRootAsync({
          inject: [LimitSettings, KeyRing, { token: Tracing, optional: true }],
          useFactory: async (settings: LimitSettings, keys: KeyRing, tracing: Tracing | undefined) =>
            limitsOf(settings, keys, await counters(tracing)),
        }),
      ],
      providers: [{ provide: APP_GUARD, useClass: RateLimitGuard }],
    };
  }
}
