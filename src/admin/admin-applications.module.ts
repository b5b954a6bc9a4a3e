import { Module } from '@nestjs/common';
import { GroupsModule } from '../groups/groups.module';
import { SessionsModule } from '../sessions/sessions.module';
import { AdminModule } from './admin.module';
import { UsersModule } from '../users/users.module';
import { ApplicationAdministrationModule } from './application-administration.module';
import { ApplicationClaims } from './application-claims';
import { assertDeclaredRoutes } from './frame/declared-routes';
import { AdminApplicationsController } from './http/applications.controller';

const controllers = [AdminApplicationsController];
assertDeclaredRoutes(controllers);

/** The routes of applications. With `ADMIN_API=off` or `OIDC=off` they are not part of the service. */
@Module({
  imports: [ApplicationAdministrationModule, AdminModule, GroupsModule, SessionsModule, UsersModule],
  controllers,
  providers: [ApplicationClaims],
})
export class AdminApplicationsModule {}
