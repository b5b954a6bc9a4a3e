import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { MfaTraces } from './mfa-traces';
import { RecoveryCodes } from './recovery-codes';
import { RecoveryCodeRows } from './recovery/recovery-code-rows';
import { TotpReset } from './totp-reset';

/** What helps a user who has lost the phone: recovery codes, and the reset by an operator. */
@Module({
  imports: [UsersModule, AuditModule, MailModule, SessionsModule],
  providers: [MfaTraces, RecoveryCodes, RecoveryCodeRows, TotpReset],
  exports: [RecoveryCodes, RecoveryCodeRows, TotpReset],
})
export class RecoveryModule {}
