import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApplicationEndsModule } from '../applications/application-ends.module';
import { AuditModule } from '../audit/audit.module';
import { BrandModule } from '../brand/brand.module';
import { CaptchaModule } from '../captcha/captcha.module';
import { EventsModule } from '../events/events.module';
import { GroupsModule } from '../groups/groups.module';
import { IdentityProvidersModule } from '../identity-providers/identity-providers.module';
import { LegacyModule } from '../legacy/legacy.module';
import { MailModule } from '../mail/mail.module';
import { MfaModule } from '../mfa/mfa.module';
import { OffboardingModule } from '../offboarding/offboarding.module';
import { PasskeysModule } from '../passkeys/passkeys.module';
import { TargetLimit } from '../platform/limits/target-limit';
import { PasswordResetModule } from '../password-reset/password-reset.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { AdminChanges } from './admin-changes';
import { AdminUsers } from './admin-users';
import { BrandAdministration } from './brand-administration';
import { BulkRevocation } from './bulk-revocation';
import { BulkSupport } from './bulk-support';
import { DeliveryChecks } from './checks/delivery-checks';
import { SignInChecks } from './checks/sign-in-checks';
import { StoreChecks } from './checks/store-checks';
import { Configuration } from './configuration';
import { ConnectionChecks } from './connection-checks';
import { EventReceiverAdministration } from './event-receiver-administration';
import { Events } from './events';
import { IdentityProviderAdministration } from './identity-provider-administration';
import { GroupAdministration } from './group-administration';
import { Mails } from './mails';
import { OrgUnits } from './org-units';
import { PasswordAges } from './password-ages';
import { ProviderTries } from './provider-tries';
import { ProviderVerification } from './provider-verification';
import { RevocationRun } from './persistence/revocation-run.entity';
import { RevocationRuns } from './persistence/revocation-run.repository';
import { RequestedChecks } from './requested-checks';
import { Tenants } from './tenants';
import { TargetUsers } from './target-users';
import { UserAdministration } from './user-administration';
import { UserBulk } from './user-bulk';
import { UserChangeEffects } from './user-change-effects';
import { UserChanges } from './user-changes';
import { UserErasure } from './user-erasure';
import { UserExport } from './user-export';
import { UserFile } from './user-file';
import { UserImport } from './user-import';
import { UserOffboarding } from './user-offboarding';
import { UserMove } from './user-move';
import { UserSupport } from './user-support';

const useCases = [
  AdminChanges,
  AdminUsers,
  BrandAdministration,
  BulkRevocation,
  BulkSupport,
  Configuration,
  ConnectionChecks,
  EventReceiverAdministration,
  Events,
  IdentityProviderAdministration,
  ProviderTries,
  ProviderVerification,
  GroupAdministration,
  Mails,
  OrgUnits,
  PasswordAges,
  RequestedChecks,
  Tenants,
  UserAdministration,
  UserBulk,
  UserChangeEffects,
  UserChanges,
  UserErasure,
  UserExport,
  UserFile,
  UserImport,
  UserOffboarding,
  UserMove,
  UserSupport,
];

/** The use cases that the API of administrators and the command line share. */
@Module({
  imports: [
    TypeOrmModule.forFeature([RevocationRun]),
    UsersModule,
    AuditModule,
    BrandModule,
    CaptchaModule,
    EventsModule,
    GroupsModule,
    SessionsModule,
    ApplicationEndsModule,
    IdentityProvidersModule,
    LegacyModule,
    MailModule,
    MfaModule,
    OffboardingModule,
    PasskeysModule,
    PasswordResetModule,
  ],
  providers: [...useCases, StoreChecks, SignInChecks, DeliveryChecks, TargetUsers, RevocationRuns, TargetLimit],
  exports: useCases,
})
export class AdministrationModule {}
