import { Module } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { AppConfig } from '../platform/config/app-config';
import { Tracing } from '../platform/tracing/tracing';
import { KeyRing } from '../platform/crypto/key-ring';
import { CaptchaGateway } from './captcha-gateway';
import { CaptchaReceipts } from './captcha-receipts';
import { CaptchaService } from './captcha.service';
import { CaptchaController } from './http/captcha.controller';
import { CaptchaPasses } from './pass/captcha-passes';
import { AltchaChallenges } from './provider/altcha-challenges';
import { configuredGateway } from './provider/configured-gateway';

/** Verifies the captcha before any other check of a login (docs/spec/service.md#1.2). */
@Module({
  controllers: [CaptchaController],
  providers: [
    CaptchaService,
    CaptchaPasses,
    CaptchaReceipts,
    {
      provide: AltchaChallenges,
      inject: [KeyRing, Clock, Random],
      useFactory: (keys: KeyRing, clock: Clock, random: Random) => new AltchaChallenges(keys, clock, random),
    },
    {
      provide: CaptchaGateway,
      inject: [AppConfig, AltchaChallenges, CaptchaReceipts, Clock, { token: Tracing, optional: true }],
      useFactory: (
        config: AppConfig,
        altcha: AltchaChallenges,
        receipts: CaptchaReceipts,
        clock: Clock,
        tracing: Tracing | undefined,
      ) => configuredGateway(config.captcha, altcha, receipts, clock, tracing),
    },
  ],
  exports: [CaptchaService, CaptchaReceipts],
})
export class CaptchaModule {}
