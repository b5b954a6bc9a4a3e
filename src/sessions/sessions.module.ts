import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { DirectoryModule } from '../directory/directory.module';
import { GroupsModule } from '../groups/groups.module';
import { UsersModule } from '../users/users.module';
import { SessionLimit } from '../platform/limits/session-limit';
import { DirectoryRecheck } from './directory-recheck';
import { JwksController } from './http/jwks.controller';
import { TrustedDevicesController } from './http/trusted-devices.controller';
import { RefreshAudience } from './jwt/refresh-audience';
import { RefreshTokenStrategy } from './jwt/refresh-token.strategy';
import { TokenIssuer } from './jwt/token-issuer';
import { TokenStrategy } from './jwt/token.strategy';
import { LiveSessions } from './live-sessions';
import { PendingLogins } from './pending-login.repository';
import { KnownBrowser } from './persistence/known-browser.entity';
import { KnownBrowsers } from './persistence/known-browser.repository';
import { LoginToken } from './persistence/login-token.entity';
import { LoginTokens } from './persistence/login-token.repository';
import { PendingLogin } from './persistence/pending-login.entity';
import { SessionRows } from './persistence/session-rows';
import { TrustedDevice } from './persistence/trusted-device.entity';
import { UsedProof } from './persistence/used-proof.entity';
import { TrustedDeviceRows } from './persistence/trusted-device.repository';
import { ProofReader } from './proof/proof-reader';
import { ProofRefusals } from './proof-refusals';
import { proofMemory } from './proof/proof-memory';
import { SessionEnds } from './session-ends';
import { SessionOpener } from './session-opener';
import { SessionConfirmation } from './session-confirmation';
import { SessionRefresher } from './session-refresher';
import { SessionTraces } from './session-traces';
import { SignInNotices } from './sign-in-notices';
import { SignInOrigins } from './sign-in-origins';
import { TokenBinding } from './token-binding';
import { TokenIntrospection } from './token-introspection';
import { TokenRevoker } from './token-revoker';
import { TrustedDevices } from './trusted-devices';
import { UserSessions } from './user-sessions';

const rows = [LoginTokens, SessionRows, TrustedDeviceRows, KnownBrowsers];

/** What other modules use. */
const doors = [
  ...[TokenStrategy, RefreshTokenStrategy, SessionLimit],
  ...[SessionOpener, SessionConfirmation, SessionRefresher, TokenRevoker, TokenIntrospection],
  ...[TokenBinding, ProofRefusals, DirectoryRecheck],
  ...[LiveSessions, UserSessions, PendingLogins, TrustedDevices, SessionTraces, SessionEnds, SignInOrigins],
];

@Module({
  imports: [
    JwtModule.register({}),
    TypeOrmModule.forFeature([LoginToken, PendingLogin, TrustedDevice, KnownBrowser, UsedProof]),
    UsersModule,
    GroupsModule,
    AuditModule,
    MailModule,
    DirectoryModule,
  ],
  controllers: [JwksController, TrustedDevicesController],
  providers: [...rows, ProofReader, proofMemory, RefreshAudience, TokenIssuer, SignInNotices, ...doors],
  exports: doors,
})
export class SessionsModule {}
