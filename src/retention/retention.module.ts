import { Module } from '@nestjs/common';
import { CaptchaModule } from '../captcha/captcha.module';
import { MailModule } from '../mail/mail.module';
import { Retention } from './retention';

@Module({ imports: [CaptchaModule, MailModule], providers: [Retention], exports: [Retention] })
export class RetentionModule {}
