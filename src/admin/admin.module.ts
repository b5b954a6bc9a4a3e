import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { IdentityProvidersModule } from '../identity-providers/identity-providers.module';
import { MailModule } from '../mail/mail.module';
import { SessionsModule } from '../sessions/sessions.module';
import { YoungSessionGuard } from '../sessions/young-session.guard';
import { UsersModule } from '../users/users.module';
import { AdministrationModule } from './administration.module';
import { assertDeclaredRoutes } from './frame/declared-routes';
import { exportLimits, ExportLimits, Exports } from './frame/exports';
import { AdminBrandController } from './http/brand.controller';
import { AdminChecksController } from './http/checks.controller';
import { AdminConfigController } from './http/config.controller';
import { AdminEventsController } from './http/events.controller';
import { AdminIdentityProvidersController } from './http/identity-providers.controller';
import { AdminGroupsController } from './http/groups.controller';
import { AdminIdentityProviderTriesController } from './http/identity-provider-tries.controller';
import { AdminLogsController } from './http/logs.controller';
import { AdminMailsController } from './http/mails.controller';
import { AdminOffboardingController } from './http/offboarding.controller';
import { AdminOverviewController } from './http/overview.controller';
import { AdminSettingsController } from './http/settings.controller';
import { AdminTenantsController } from './http/tenants.controller';
import { AdminUserBulkController } from './http/user-bulk.controller';
import { AdminUserMoveController } from './http/user-move.controller';
import { AdminUserSignedInController } from './http/user-signed-in.controller';
import { AdminUserSupportController } from './http/user-support.controller';
import { AdminUsersController } from './http/users.controller';
import { Logs } from './logs';
import { LoginHours } from './overview/login-hours';
import { OverviewReadings } from './overview/overview';

const controllers = [
  AdminOverviewController,
  AdminChecksController,
  AdminUsersController,
  AdminUserSupportController,
  AdminUserBulkController,
  AdminUserSignedInController,
  AdminOffboardingController,
  AdminLogsController,
  AdminConfigController,
  AdminSettingsController,
  AdminMailsController,
  AdminEventsController,
  AdminTenantsController,
  AdminBrandController,
  AdminIdentityProvidersController,
  AdminIdentityProviderTriesController,
  AdminUserMoveController,
  AdminGroupsController,
];
assertDeclaredRoutes(controllers);

/** The API of administrators (docs/spec/extensions.md#d). With `ADMIN_API=off` it is not part of the service. */
@Module({
  imports: [AdministrationModule, AuditModule, SessionsModule, UsersModule, MailModule, IdentityProvidersModule],
  controllers,
  providers: [
    Logs,
    LoginHours,
    OverviewReadings,
    Exports,
    YoungSessionGuard,
    { provide: ExportLimits, useValue: exportLimits },
  ],
  exports: [Exports, YoungSessionGuard],
})
export class AdminModule {}
