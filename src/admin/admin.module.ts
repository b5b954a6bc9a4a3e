import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { MailModule } from '../mail/mail.module';
import { SessionsModule } from '../sessions/sessions.module';
import { YoungSessionGuard } from '../sessions/young-session.guard';
import { UsersModule } from '../users/users.module';
import { AdministrationModule } from './administration.module';
import { assertDeclaredRoutes } from './frame/declared-routes';
import { exportLimits, ExportLimits, Exports } from './frame/exports';
import { AdminConfigController } from './http/config.controller';
import { AdminEventsController } from './http/events.controller';
import { AdminLogsController } from './http/logs.controller';
import { AdminMailsController } from './http/mails.controller';
import { AdminOverviewController } from './http/overview.controller';
import { AdminTenantsController } from './http/tenants.controller';
import { AdminUserSupportController } from './http/user-support.controller';
import { AdminUsersController } from './http/users.controller';
import { Logs } from './logs';
import { LoginHours } from './overview/login-hours';
import { OverviewReadings } from './overview/overview';

const controllers = [
  AdminOverviewController,
  AdminUsersController,
  AdminUserSupportController,
  AdminLogsController,
  AdminConfigController,
  AdminMailsController,
  AdminEventsController,
  AdminTenantsController,
];
assertDeclaredRoutes(controllers);

/** The API of administrators (docs/spec/extensions.md#d). With `ADMIN_API=off` it is not part of the service. */
@Module({
  imports: [AdministrationModule, AuditModule, SessionsModule, UsersModule, MailModule],
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
