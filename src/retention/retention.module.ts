import { Module } from '@nestjs/common';
import { CaptchaModule } from '../captcha/captcha.module';
import { MailModule } from '../mail/mail.module';
import { TokensModule } from '../tokens/tokens.module';
import { Retention } from './retention';

@Module({ imports: [CaptchaModule, MailModule, TokensModule], providers: [Retention], exports: [Retention] })
export class RetentionModule {}
