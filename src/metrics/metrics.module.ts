import { Module } from '@nestjs/common';
import { MailModule } from '../mail/mail.module';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import { UsersModule } from '../users/users.module';
import { Metrics } from './metrics';

@Module({ imports: [UsersModule, MailModule, PasswordResetModule], providers: [Metrics] })
export class MetricsModule {}
