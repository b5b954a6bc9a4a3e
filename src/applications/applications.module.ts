import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module';
import { SessionsModule } from '../sessions/sessions.module';
import { UsersModule } from '../users/users.module';
import { Application } from './application.entity';
import { ApplicationChanges } from './application-changes';
import { ApplicationSessions } from './application-sessions.repository';
import { Applications } from './applications.repository';
import { ApplicationLogout } from './persistence/application-logout.entity';
import { ApplicationSession } from './persistence/application-session.entity';
import { OidcRecord } from './persistence/oidc-record.entity';
import { OidcRecords } from './persistence/oidc-record.repository';

/** The rows: for the administration, the command line and what ends with a session, also with `OIDC=off`. */
@Module({
  imports: [
    AuditModule,
    SessionsModule,
    UsersModule,
    TypeOrmModule.forFeature([Application, OidcRecord, ApplicationSession, ApplicationLogout]),
  ],
  providers: [Applications, ApplicationChanges, ApplicationSessions, OidcRecords],
  exports: [Applications, ApplicationChanges, ApplicationSessions, OidcRecords],
})
export class ApplicationsModule {}
