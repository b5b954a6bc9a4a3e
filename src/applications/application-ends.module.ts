import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SessionsModule } from '../sessions/sessions.module';
import { ApplicationEnds } from './application-ends';
import { ApplicationTraces } from './application-traces';
import { LogoutTokens } from './logout-tokens';
import { LogoutAttempt } from './logout/logout-attempt';
import { LogoutCounts } from './logout/logout-counts';
import { LogoutLimits, logoutLimits } from './logout/logout-limits';
import { LogoutWorker } from './logout/logout-worker';
import { ApplicationLogout } from './persistence/application-logout.entity';
import { ApplicationLogouts } from './persistence/application-logout.repository';
import { ApplicationSession } from './persistence/application-session.entity';
import { ApplicationSessions } from './persistence/application-session.repository';
import { OidcRecord } from './persistence/oidc-record.entity';

/**
 * The end of sessions at the applications, and the rows of users there. It has nothing of the OpenID provider, so that the
 * command line and the erasure of a user need no provider. With `OIDC=off` it does nothing but erase and purge.
 */
@Module({
  imports: [SessionsModule, TypeOrmModule.forFeature([ApplicationSession, ApplicationLogout, OidcRecord])],
  providers: [
    { provide: LogoutLimits, useValue: logoutLimits },
    ...[ApplicationSessions, ApplicationLogouts, LogoutCounts, LogoutAttempt, LogoutWorker],
    ...[ApplicationEnds, ApplicationTraces, LogoutTokens],
  ],
  exports: [ApplicationSessions, LogoutTokens],
})
export class ApplicationEndsModule {}
