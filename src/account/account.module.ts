import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { AccountController } from './http/account.controller';
import { CurrentPassword } from './password/current-password';
import { OwnPasswordService } from './password/own-password.service';

/** The account in the hands of its owner (docs/spec/extensions.md#a). */
@Module({
  imports: [UsersModule, AuditModule, SessionsModule, PasswordResetModule],
  controllers: [AccountController],
  providers: [OwnPasswordService, CurrentPassword],
})
export class AccountModule {}
