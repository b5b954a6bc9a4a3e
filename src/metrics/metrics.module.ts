import { Module } from '@nestjs/common';
import { ApplicationEndsModule } from '../applications/application-ends.module';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { Metrics } from './metrics';

@Module({
  imports: [ApplicationEndsModule, AuditModule, UsersModule, MailModule, SessionsModule, PasswordResetModule],
  providers: [Metrics],
})
export class MetricsModule {}
