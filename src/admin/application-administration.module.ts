import { Module } from '@nestjs/common';
import { ApplicationsModule } from '../applications/applications.module';
import { GroupsModule } from '../groups/groups.module';
import { UsersModule } from '../users/users.module';
import { AdministrationModule } from './administration.module';
import { ApplicationAdministration } from './application-administration';

/** The use cases that the API of administrators and the command line share. */
@Module({
  imports: [AdministrationModule, ApplicationsModule, GroupsModule, UsersModule],
  providers: [ApplicationAdministration],
  exports: [ApplicationAdministration],
})
export class ApplicationAdministrationModule {}
