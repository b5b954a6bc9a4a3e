import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApplicationEndsModule } from '../applications/application-ends.module';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { MfaModule } from '../mfa/mfa.module';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { OffboardingLimits, offboardingLimits } from './offboarding-limits';
import { OffboardingReceipts } from './offboarding-receipts';
import { OffboardingTraces } from './offboarding-traces';
import { OffboardingWorker } from './offboarding-worker';
import { Offboardings } from './offboardings';
import { OffboardingRow } from './persistence/offboarding.entity';
import { OffboardingRows } from './persistence/offboarding.repository';

const doors = [Offboardings, OffboardingReceipts, OffboardingWorker];

/** With the modules that end something when somebody leaves: each of them registers with UserTraces. */
@Module({
  imports: [
    TypeOrmModule.forFeature([OffboardingRow]),
    ...[ApplicationEndsModule, AuditModule, MailModule, MfaModule, PasswordResetModule, SessionsModule, UsersModule],
  ],
  providers: [
    { provide: OffboardingLimits, useValue: offboardingLimits },
    OffboardingRows,
    OffboardingTraces,
    ...doors,
  ],
  exports: doors,
})
export class OffboardingModule {}
