import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module';
import { ApplicationEnds } from './application-ends';
import { ApplicationTraces } from './application-traces';
import { ApplicationsModule } from './applications.module';
import { LogoutTokens } from './logout-tokens';
import { LogoutAttempt } from './logout/logout-attempt';
import { LogoutCounts } from './logout/logout-counts';
import { LogoutLimits, logoutLimits } from './logout/logout-limits';
import { LogoutWorker } from './logout/logout-worker';
import { OpenIdCounts } from './openid-counts';
import { ApplicationLogouts } from './persistence/application-logout.repository';

/**
 * The end of sessions at the applications, and the rows of users there. It has nothing of the OpenID provider, so that the
 * command line and the erasure of a user need no provider. With `OIDC=off` it does nothing but erase and purge.
 */
@Module({
  imports: [SessionsModule, ApplicationsModule],
  providers: [
    { provide: LogoutLimits, useValue: logoutLimits },
    ...[ApplicationLogouts, LogoutCounts, LogoutAttempt, LogoutWorker],
    ...[ApplicationEnds, ApplicationTraces, LogoutTokens, OpenIdCounts],
  ],
  exports: [LogoutTokens, OpenIdCounts],
})
export class ApplicationEndsModule {}
