import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { CaptchaModule } from '../captcha/captcha.module';
import { DirectoryModule } from '../directory/directory.module';
import { GroupsModule } from '../groups/groups.module';
import { IdentityProvidersModule } from '../identity-providers/identity-providers.module';
import { LegacyModule } from '../legacy/legacy.module';
import { MailModule } from '../mail/mail.module';
import { MfaModule } from '../mfa/mfa.module';
import { PasskeysModule } from '../passkeys/passkeys.module';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { CredentialVerifiers } from './login/credentials/credential-verifiers';
import { EqualWork } from './login/credentials/equal-work';
import { DirectoryFollower } from './login/credentials/ldap/directory-follower';
import { EntryAttributes } from './login/credentials/ldap/entry-attributes';
import { EntryOwners } from './login/credentials/ldap/entry-owners';
import { Provisioning } from './login/credentials/ldap/provisioning';
import { UnknownGuesses } from './login/credentials/ldap/unknown-guesses';
import { LdapVerifier } from './login/credentials/ldap-verifier';
import { LegacyPasswords } from './login/credentials/legacy-passwords';
import { PasswordVerifier } from './login/credentials/password-verifier';
import { DiscoverController } from './login/discover.controller';
import { ExternalCallbackService } from './login/external/external-callback.service';
import { ExternalCallbackController } from './login/external/external-callback.controller';
import { ExternalLoginController } from './login/external/external-login.controller';
import { ExternalLoginService } from './login/external/external-login.service';
import { ExternalOwners } from './login/external/external-owners';
import { LoginAdmission } from './login/login-admission';
import { LoginAnswers } from './login/login-answers';
import { LoginRefusals } from './login/login-refusals';
import { LoginController } from './login/login.controller';
import { LoginService } from './login/login.service';
import { DirectoryUsers } from './login/passkey/directory-users';
import { PasskeyLoginController } from './login/passkey/passkey-login.controller';
import { PasskeyLoginService } from './login/passkey/passkey-login.service';
import { ConfirmedSessions } from './reauthentication/confirmed-sessions';
import { OwnPasskeyProof } from './reauthentication/own-passkey-proof';
import { ReauthenticationController } from './reauthentication/reauthentication.controller';
import { ReauthenticationService } from './reauthentication/reauthentication.service';
import { SessionController } from './session/session.controller';

@Module({
  imports: [
    UsersModule,
    AuditModule,
    CaptchaModule,
    DirectoryModule,
    GroupsModule,
    LegacyModule,
    MailModule,
    SessionsModule,
    MfaModule,
    PasswordResetModule,
    PasskeysModule,
    IdentityProvidersModule,
  ],
  controllers: [
    LoginController,
    DiscoverController,
    PasskeyLoginController,
    ExternalLoginController,
    ExternalCallbackController,
    ReauthenticationController,
    SessionController,
  ],
  providers: [
    LoginService,
    LoginAdmission,
    LoginRefusals,
    LoginAnswers,
    PasskeyLoginService,
    ExternalCallbackService,
    ExternalLoginService,
    ExternalOwners,
    ReauthenticationService,
    OwnPasskeyProof,
    ConfirmedSessions,
    DirectoryUsers,
    CredentialVerifiers,
    EqualWork,
    PasswordVerifier,
    LegacyPasswords,
    LdapVerifier,
    UnknownGuesses,
    Provisioning,
    EntryOwners,
    EntryAttributes,
    DirectoryFollower,
  ],
})
export class AuthModule {}
