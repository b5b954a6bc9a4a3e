import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { RecoveryModule } from '../mfa/recovery.module';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import { TokensModule } from '../tokens/tokens.module';
import { UsersModule } from '../users/users.module';
import { AdminChanges } from './admin-changes';
import { AdminUsers } from './admin-users';
import { UserAdministration } from './user-administration';

/** The use cases that the API of administrators and the command line share. */
@Module({
  imports: [UsersModule, AuditModule, TokensModule, MailModule, RecoveryModule, PasswordResetModule],
  providers: [AdminChanges, AdminUsers, UserAdministration],
  exports: [AdminChanges, AdminUsers, UserAdministration],
})
export class AdministrationModule {}
