import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { SessionsModule } from '../sessions/sessions.module';
import { KeyRing } from '../platform/crypto/key-ring';
import { OwnFactors } from '../users/own-factors';
import { UsersModule } from '../users/users.module';
import { MfaTraces } from './mfa-traces';
import { RecoveryCode } from './persistence/recovery-code.entity';
import { RecoveryCodeRows } from './persistence/recovery-code.repository';
import { TotpSecret } from './persistence/totp-secret.entity';
import { TotpSecrets } from './persistence/totp-secret.repository';
import { RecoveryCodes } from './recovery-codes';
import { recoveryCodesLeft } from './recovery-codes-left';
import { TotpReset } from './totp-reset';

/** The tables, and what helps a user who has lost the phone: recovery codes, and the reset by an operator. */
@Module({
  imports: [TypeOrmModule.forFeature([RecoveryCode, TotpSecret]), UsersModule, AuditModule, MailModule, SessionsModule],
  providers: [MfaTraces, RecoveryCodes, RecoveryCodeRows, TotpSecrets, TotpReset],
  exports: [RecoveryCodes, RecoveryCodeRows, TotpSecrets, TotpReset],
})
export class RecoveryModule {
  constructor(factors: OwnFactors, keys: KeyRing) {
    factors.register('recovery codes', (userId) => recoveryCodesLeft(keys, userId));
  }
}
