import { Module } from '@nestjs/common';
import { MailModule } from '../mail/mail.module';
import { UsersModule } from '../users/users.module';
import { Metrics } from './metrics';

@Module({ imports: [UsersModule, MailModule], providers: [Metrics] })
export class MetricsModule {}
