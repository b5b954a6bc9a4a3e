import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { PassportModule } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { UsersModule } from '../users/users.module';
import { JwksController } from './http/jwks.controller';
import { RefreshTokenStrategy } from './jwt/refresh-token.strategy';
import { TokenIssuer } from './jwt/token-issuer';
import { TokenStrategy } from './jwt/token.strategy';
import { LiveSessions } from './live-sessions';
import { PendingLogins } from './pending-logins';
import { LoginToken } from './persistence/login-token.entity';
import { LoginTokens } from './persistence/login-tokens';
import { PendingLogin } from './persistence/pending-login.entity';
import { SessionOpener } from './session-opener';
import { SessionRefresher } from './session-refresher';
import { KnownBrowsers } from './sign-in/known-browsers';
import { SignInNotices } from './sign-in/sign-in-notices';
import { TokenRevoker } from './token-revoker';

@Module({
  imports: [
    PassportModule,
    JwtModule.register({}),
    TypeOrmModule.forFeature([LoginToken, PendingLogin]),
    UsersModule,
    AuditModule,
    MailModule,
  ],
  controllers: [JwksController],
  providers: [
    LoginTokens,
    TokenIssuer,
    TokenStrategy,
    RefreshTokenStrategy,
    KnownBrowsers,
    SignInNotices,
    SessionOpener,
    SessionRefresher,
    TokenRevoker,
    LiveSessions,
    PendingLogins,
  ],
  exports: [SessionOpener, SessionRefresher, TokenRevoker, LiveSessions, PendingLogins],
})
export class TokensModule {}
