import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { DirectoryModule } from '../directory/directory.module';
import { UsersModule } from '../users/users.module';
import { SessionLimit } from '../platform/limits/session-limit';
import { JwksController } from './http/jwks.controller';
import { RefreshTokenStrategy } from './jwt/refresh-token.strategy';
import { TrustedDevicesController } from './http/trusted-devices.controller';
import { TokenIssuer } from './jwt/token-issuer';
import { IntrospectedTokenStrategy } from './jwt/introspected-token.strategy';
import { TokenStrategy } from './jwt/token.strategy';
import { LiveSessions } from './live-sessions';
import { PendingLogins } from './pending-login.repository';
import { LoginToken } from './persistence/login-token.entity';
import { LoginTokens } from './persistence/login-tokens';
import { PendingLogin } from './persistence/pending-login.entity';
import { SessionRows } from './persistence/session-rows';
import { TrustedDeviceRows } from './persistence/trusted-device-rows';
import { DirectoryRecheck } from './recheck/directory-recheck';
import { SessionOpener } from './session-opener';
import { SessionRefresher } from './session-refresher';
import { SessionTraces } from './session-traces';
import { SessionUses } from './session-uses';
import { KnownBrowsers } from './sign-in/known-browsers';
import { SignInNotices } from './sign-in/sign-in-notices';
import { TokenIntrospection } from './token-introspection';
import { TokenRevoker } from './token-revoker';
import { TrustedDevices } from './trusted-devices';
import { UserSessions } from './user-sessions';

@Module({
  imports: [
    JwtModule.register({}),
    TypeOrmModule.forFeature([LoginToken, PendingLogin]),
    UsersModule,
    AuditModule,
    MailModule,
    DirectoryModule,
  ],
  controllers: [JwksController, TrustedDevicesController],
  providers: [
    LoginTokens,
    SessionRows,
    TokenIssuer,
    TokenStrategy,
    RefreshTokenStrategy,
    SessionLimit,
    IntrospectedTokenStrategy,
    TokenIntrospection,
    KnownBrowsers,
    SignInNotices,
    SessionOpener,
    SessionRefresher,
    DirectoryRecheck,
    TokenRevoker,
    LiveSessions,
    UserSessions,
    SessionTraces,
    SessionUses,
    PendingLogins,
    TrustedDeviceRows,
    TrustedDevices,
  ],
  exports: [
    TokenStrategy,
    TokenIntrospection,
    RefreshTokenStrategy,
    SessionLimit,
    SessionOpener,
    SessionRefresher,
    TokenRevoker,
    LiveSessions,
    UserSessions,
    SessionUses,
    PendingLogins,
    TrustedDevices,
  ],
})
export class SessionsModule {}
