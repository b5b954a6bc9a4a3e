import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { SessionsModule } from '../sessions/sessions.module';
import { OwnFactors } from '../users/own-factors';
import { UsersModule } from '../users/users.module';
import { PasskeyChallenges } from './persistence/passkey-challenge.repository';
import { PasskeysController } from './http/passkeys.controller';
import { PasskeyNotices } from './registration/passkey-notices';
import { OwnPasskeys } from './own-passkeys';
import { PasskeyAssertions } from './passkey-assertions';
import { passkeyCount } from './passkey-count';
import { PasskeyTraces } from './passkey-traces';
import { Passkey } from './persistence/passkey.entity';
import { PasskeyChallenge } from './persistence/passkey-challenge.entity';
import { PasskeyRows } from './persistence/passkey.repository';
import { PasskeyRegistration } from './registration/passkey-registration';
import { SimpleWebAuthn } from './webauthn/simple-webauthn';
import { WebAuthn } from './webauthn/webauthn';

/** WebAuthn: passkeys of users, and the assertions of a login (docs/spec/extensions.md#b). */
@Module({
  imports: [
    TypeOrmModule.forFeature([Passkey, PasskeyChallenge]),
    UsersModule,
    AuditModule,
    MailModule,
    SessionsModule,
  ],
  controllers: [PasskeysController],
  providers: [
    OwnPasskeys,
    PasskeyAssertions,
    PasskeyRegistration,
    PasskeyChallenges,
    PasskeyNotices,
    PasskeyRows,
    PasskeyTraces,
    { provide: WebAuthn, useClass: SimpleWebAuthn },
  ],
  exports: [OwnPasskeys, PasskeyAssertions],
})
export class PasskeysModule {
  constructor(factors: OwnFactors) {
    factors.register('passkeys', passkeyCount);
  }
}
