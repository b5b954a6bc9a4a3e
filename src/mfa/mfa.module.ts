import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Random } from '../shared/random';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { MfaSettings } from './mfa-settings';
import { KeyRing } from '../platform/crypto/key-ring';
import { OwnFactors } from '../users/own-factors';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { BroughtTotp } from './brought-totp';
import { CodeAttempts } from './codes/code-attempts';
import { EmailCodes } from './codes/email-codes';
import { OtpResendService } from './codes/otp-resend.service';
import { EnrolmentConfirmation } from './enrolment/enrolment-confirmation';
import { OpenEnrolments } from './enrolment/open-enrolments';
import { ReplacementCode } from './enrolment/replacement-code';
import { TotpEnrolmentService } from './enrolment/totp-enrolment.service';
import { MfaController } from './http/mfa.controller';
import { RecoveryCodesController } from './http/recovery-codes.controller';
import { MfaChallenges } from './mfa-challenges';
import { MfaTraces } from './mfa-traces';
import { RecoveryCode } from './persistence/recovery-code.entity';
import { RecoveryCodeRows } from './persistence/recovery-code.repository';
import { TotpSecret } from './persistence/totp-secret.entity';
import { TotpSecrets } from './persistence/totp-secret.repository';
import { RecoveryCodes } from './recovery-codes';
import { recoveryCodesLeft } from './recovery-codes-left';
import { TotpReset } from './totp-reset';
import { ActiveSecret } from './totp/active-secret';
import { SealedTotp } from './totp/sealed-totp';
import { SpeakeasyTotpCodes } from './totp/speakeasy-totp-codes';
import { TotpCodes } from './totp/totp-codes';
import { EmailVerifier } from './verify/email-verifier';
import { RecoveryVerifier } from './verify/recovery-verifier';
import { TotpVerifier } from './verify/totp-verifier';
import { VerifiedLogins } from './verify/verified-logins';

/** The second factor: codes by mail and by authenticator, recovery codes (docs/spec/decisions.md#3). */
@Module({
  imports: [TypeOrmModule.forFeature([RecoveryCode, TotpSecret]), UsersModule, AuditModule, MailModule, SessionsModule],
  controllers: [MfaController, RecoveryCodesController],
  providers: [
    MfaChallenges,
    MfaTraces,
    CodeAttempts,
    EmailCodes,
    EmailVerifier,
    TotpVerifier,
    RecoveryVerifier,
    VerifiedLogins,
    RecoveryCodes,
    RecoveryCodeRows,
    TotpReset,
    BroughtTotp,
    TotpSecrets,
    OtpResendService,
    TotpEnrolmentService,
    ReplacementCode,
    EnrolmentConfirmation,
    OpenEnrolments,
    ActiveSecret,
    SealedTotp,
    {
      provide: TotpCodes,
      inject: [MfaSettings, Random],
      useFactory: (mfa: MfaSettings, random: Random) =>
        new SpeakeasyTotpCodes(random, { issuer: mfa.totpIssuer, window: mfa.totpWindow }),
    },
  ],
  exports: [MfaChallenges, RecoveryCodes, TotpReset, BroughtTotp],
})
export class MfaModule {
  constructor(factors: OwnFactors, keys: KeyRing) {
    factors.register('recovery codes', (userId) => recoveryCodesLeft(keys, userId));
  }
}
