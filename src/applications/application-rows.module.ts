import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Application } from './application.entity';
import { ApplicationChanges } from './application-changes';
import { Applications } from './applications.repository';

/** The table `applications`, without the provider: the command line needs no more. */
@Module({
  imports: [TypeOrmModule.forFeature([Application])],
  providers: [Applications, ApplicationChanges],
  exports: [Applications, ApplicationChanges],
})
export class ApplicationRowsModule {}
