import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Clock } from '../shared/clock';
import { CaptchaSettings } from './captcha-settings';
import { Tracing } from '../platform/tracing/tracing';
import { CaptchaGateway } from './captcha-gateway';
import { CaptchaReceipts } from './captcha-receipt.repository';
import { CaptchaService } from './captcha.service';
import { CaptchaController } from './http/captcha.controller';
import { CaptchaPasses } from './captcha-passes';
import { CaptchaReceipt } from './captcha-receipt.entity';
import { AltchaChallenges } from './provider/altcha-challenges';
import { configuredGateway } from './provider/configured-gateway';

/** Verifies the captcha before any other check of a login (docs/spec/service.md#1.2). */
@Module({
  imports: [TypeOrmModule.forFeature([CaptchaReceipt])],
  controllers: [CaptchaController],
  providers: [
    CaptchaService,
    CaptchaPasses,
    CaptchaReceipts,
    AltchaChallenges,
    {
      provide: CaptchaGateway,
      inject: [CaptchaSettings, AltchaChallenges, CaptchaReceipts, Clock, { token: Tracing, optional: true }],
      useFactory: (
        settings: CaptchaSettings,
        altcha: AltchaChallenges,
        receipts: CaptchaReceipts,
        clock: Clock,
        tracing: Tracing | undefined,
      ) => configuredGateway(settings, altcha, receipts, clock, tracing),
    },
  ],
  exports: [CaptchaService, CaptchaReceipts, CaptchaGateway],
})
export class CaptchaModule {}
