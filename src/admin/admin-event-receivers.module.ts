import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { AdminModule } from './admin.module';
import { AdministrationModule } from './administration.module';
import { assertDeclaredRoutes } from './frame/declared-routes';
import { AdminEventReceiversController } from './http/event-receivers.controller';

const controllers = [AdminEventReceiversController];
assertDeclaredRoutes(controllers);

/** The routes of further receivers. With `ADMIN_API=off` or `EVENT_RECEIVERS=off` they are not part of the service. */
@Module({ imports: [AdministrationModule, AdminModule, SessionsModule, UsersModule], controllers })
export class AdminEventReceiversModule {}
