import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { PassportModule } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { DirectoryModule } from '../directory/directory.module';
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
import { DirectoryRecheck } from './recheck/directory-recheck';
import { SessionOpener } from './session-opener';
import { SessionRefresher } from './session-refresher';
import { TokenRevoker } from './token-revoker';

@Module({
  imports: [
    PassportModule,
    JwtModule.register({}),
    TypeOrmModule.forFeature([LoginToken, PendingLogin]),
    UsersModule,
    AuditModule,
    DirectoryModule,
  ],
  controllers: [JwksController],
  providers: [
    LoginTokens,
    TokenIssuer,
    TokenStrategy,
    RefreshTokenStrategy,
    SessionOpener,
    SessionRefresher,
    DirectoryRecheck,
    TokenRevoker,
    LiveSessions,
    PendingLogins,
  ],
  exports: [SessionOpener, SessionRefresher, TokenRevoker, LiveSessions, PendingLogins],
})
export class TokensModule {}
