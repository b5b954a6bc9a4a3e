import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module';
import { ApplicationRowsModule } from './application-rows.module';
import { OwnApplicationsController } from './http/own-applications.controller';

/** The applications of the user of a session. */
@Module({ imports: [ApplicationRowsModule, SessionsModule], controllers: [OwnApplicationsController] })
export class OwnApplicationsModule {}
