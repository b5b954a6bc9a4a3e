import { Module } from '@nestjs/common';
import { ApplicationEndsModule } from '../applications/application-ends.module';
import { AuditModule } from '../audit/audit.module';
import { CaptchaModule } from '../captcha/captcha.module';
import { MailModule } from '../mail/mail.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { Retention } from './retention';

/** With the modules that settle traces of deleted users: each of them registers with UserTraces. */
@Module({
  imports: [AuditModule, UsersModule, CaptchaModule, MailModule, SessionsModule, ApplicationEndsModule],
  providers: [Retention],
  exports: [Retention],
})
export class RetentionModule {}
