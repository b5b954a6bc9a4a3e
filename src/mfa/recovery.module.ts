import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { SessionsModule } from '../sessions/sessions.module';
import { KeyRing } from '../platform/crypto/key-ring';
import { OwnFactors } from '../users/own-factors';
import { UsersModule } from '../users/users.module';
import { RecoveryCodes } from './recovery-codes';
import { recoveryCodesLeft } from './recovery-codes-left';
import { RecoveryCodeRows } from './recovery/recovery-code-rows';
import { TotpReset } from './totp-reset';

/** What helps a user who has lost the phone: recovery codes, and the reset by an operator. */
@Module({
  imports: [UsersModule, AuditModule, MailModule, SessionsModule],
  providers: [RecoveryCodes, RecoveryCodeRows, TotpReset],
  exports: [RecoveryCodes, RecoveryCodeRows, TotpReset],
})
export class RecoveryModule {
  constructor(factors: OwnFactors, keys: KeyRing) {
    factors.register('recovery codes', (userId) => recoveryCodesLeft(keys, userId));
  }
}
