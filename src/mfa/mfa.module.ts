import { Module } from '@nestjs/common';
import { Random } from '../shared/random';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { AppConfig } from '../platform/config/app-config';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { CodeAttempts } from './codes/code-attempts';
import { EmailCodes } from './codes/email-codes';
import { EnrolmentConfirmation } from './enrolment/enrolment-confirmation';
import { OpenEnrolments } from './enrolment/open-enrolments';
import { ReplacementCode } from './enrolment/replacement-code';
import { TotpEnrolmentService } from './enrolment/totp-enrolment.service';
import { TotpQrCode } from './enrolment/totp-qr-code';
import { MfaController } from './http/mfa.controller';
import { RecoveryCodesController } from './http/recovery-codes.controller';
import { MfaChallenges } from './mfa-challenges';
import { RecoveryModule } from './recovery.module';
import { NewRecoveryCodes } from './recovery/new-recovery-codes';
import { OtpResendService } from './resend/otp-resend.service';
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
  imports: [UsersModule, AuditModule, MailModule, SessionsModule, RecoveryModule],
  controllers: [MfaController, RecoveryCodesController],
  providers: [
    MfaChallenges,
    CodeAttempts,
    EmailCodes,
    EmailVerifier,
    TotpVerifier,
    RecoveryVerifier,
    VerifiedLogins,
    NewRecoveryCodes,
    OtpResendService,
    TotpEnrolmentService,
    ReplacementCode,
    EnrolmentConfirmation,
    OpenEnrolments,
    TotpQrCode,
    ActiveSecret,
    SealedTotp,
    {
      provide: TotpCodes,
      inject: [AppConfig, Random],
      useFactory: ({ mfa }: AppConfig, random: Random) =>
        new SpeakeasyTotpCodes(random, { issuer: mfa.totpIssuer, window: mfa.totpWindow }),
    },
  ],
  exports: [MfaChallenges, RecoveryModule],
})
export class MfaModule {}
