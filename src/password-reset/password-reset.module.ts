import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { ChangePasswordService } from './links/change-password.service';
import { ExpiryWarnings } from './expiry-warnings';
import { ForgotPasswordService } from './links/forgot-password.service';
import { MailedLinks } from './links/mailed-links';
import { SyntheticRequests } from './links/synthetic-requests';
import { PasswordResetController } from './http/password-reset.controller';
import { PasswordChecks } from './password-checks';
import { NewPasswords } from './new-passwords';
import { PasswordChange } from './password-change';
import { PasswordChangeRequests } from './password-change-requests';
import { ExpiryWarning } from './persistence/expiry-warning.entity';
import { WarningClaims } from './persistence/expiry-warning.repository';
import { PasswordChangeRequest } from './persistence/password-change-request.entity';
import { PasswordChangeRequestRepository } from './persistence/password-change-request.repository';
import { PasswordPolicySource } from './password-policy-source';
import { PasswordResetTraces } from './password-reset-traces';
import { BreachedPasswords } from './rules/breached-passwords';
import { CommonPasswords } from './rules/common-passwords';
import { UserInvitations } from './user-invitations';

/** Sets a password that is forgotten, expired or the first one (docs/spec/decisions.md#5). */
@Module({
  imports: [
    TypeOrmModule.forFeature([ExpiryWarning, PasswordChangeRequest]),
    UsersModule,
    SessionsModule,
    AuditModule,
    MailModule,
  ],
  controllers: [PasswordResetController],
  providers: [
    PasswordChangeRequests,
    UserInvitations,
    PasswordChangeRequestRepository,
    ForgotPasswordService,
    MailedLinks,
    SyntheticRequests,
    NewPasswords,
    PasswordChecks,
    CommonPasswords,
    BreachedPasswords,
    PasswordChange,
    ChangePasswordService,
    PasswordPolicySource,
    PasswordResetTraces,
    ExpiryWarnings,
    WarningClaims,
  ],
  exports: [
    ExpiryWarnings,
    PasswordChangeRequests,
    PasswordChecks,
    PasswordPolicySource,
    UserInvitations,
    NewPasswords,
    PasswordChange,
  ],
})
export class PasswordResetModule {}
