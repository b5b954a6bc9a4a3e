import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApplicationEndsModule } from '../applications/application-ends.module';
import { AuditModule } from '../audit/audit.module';
import { EventsModule } from '../events/events.module';
import { MailModule } from '../mail/mail.module';
import { MfaModule } from '../mfa/mfa.module';
import { PasskeysModule } from '../passkeys/passkeys.module';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { AdminChanges } from './admin-changes';
import { AdminUsers } from './admin-users';
import { BulkRevocation } from './bulk-revocation';
import { BulkSupport } from './bulk-support';
import { Configuration } from './configuration';
import { Events } from './events';
import { Mails } from './mails';
import { OrgUnits } from './org-units';
import { RevocationRun } from './persistence/revocation-run.entity';
import { RevocationRuns } from './persistence/revocation-run.repository';
import { Tenants } from './tenants';
import { TargetUsers } from './target-users';
import { UserAdministration } from './user-administration';
import { UserChanges } from './user-changes';
import { UserErasure } from './user-erasure';
import { UserSupport } from './user-support';

const useCases = [
  AdminChanges,
  AdminUsers,
  BulkRevocation,
  BulkSupport,
  Configuration,
  Events,
  Mails,
  OrgUnits,
  Tenants,
  UserAdministration,
  UserChanges,
  UserErasure,
  UserSupport,
];

/** The use cases that the API of administrators and the command line share. */
@Module({
  imports: [
    TypeOrmModule.forFeature([RevocationRun]),
    UsersModule,
    AuditModule,
    EventsModule,
    SessionsModule,
    ApplicationEndsModule,
    MailModule,
    MfaModule,
    PasskeysModule,
    PasswordResetModule,
  ],
  providers: [...useCases, TargetUsers, RevocationRuns],
  exports: useCases,
})
export class AdministrationModule {}
