import { Module } from '@nestjs/common';
import { ApplicationEndsModule } from '../applications/application-ends.module';
import { AuditModule } from '../audit/audit.module';
import { IdentityProvidersModule } from '../identity-providers/identity-providers.module';
import { LegacyModule } from '../legacy/legacy.module';
import { MailModule } from '../mail/mail.module';
import { OffboardingModule } from '../offboarding/offboarding.module';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { MaintenanceFigures } from './maintenance-figures';
import { Metrics } from './metrics';

@Module({
  imports: [
    ApplicationEndsModule,
    AuditModule,
    IdentityProvidersModule,
    UsersModule,
    LegacyModule,
    MailModule,
    OffboardingModule,
    SessionsModule,
    PasswordResetModule,
  ],
  providers: [Metrics, MaintenanceFigures],
})
export class MetricsModule {}
