import { Global, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { DatabaseSettings } from '../config/database-settings';
import { Database } from './database';
import { DatabaseClock } from './database-clock';
import { DatabaseConnection } from './database-connection';
import { DatabaseOutages } from './database-outages';
import { DatabaseWaits } from './database-waits';
import { DiskSpace } from './disk-space';
import { NewConnections } from './new-connections';
import { traceDatabase } from '../tracing/traced-database';
import { Tracing } from '../tracing/tracing';
import { TracingModule } from '../tracing/tracing.module';
import { typeormOptions } from './typeorm-options';
import { UserTraces } from './user-traces';

/** One DataSource for the repositories of TypeORM and for plain SQL. DatabaseConnection connects it. */
@Global()
@Module({
  imports: [
    TracingModule,
    TypeOrmModule.forRootAsync({
      inject: [DatabaseSettings],
      useFactory: (settings: DatabaseSettings) => ({
        ...typeormOptions(settings.url, settings.poolSize, settings.timeLimits, settings.sqliteSynchronous),
        autoLoadEntities: true,
        manualInitialization: true,
      }),
    }),
  ],
  providers: [
    DatabaseConnection,
    DatabaseClock,
    DatabaseOutages,
    DatabaseWaits,
    NewConnections,
    DiskSpace,
    UserTraces,
    {
      provide: Database,
      inject: [getDataSourceToken(), DatabaseWaits, { token: Tracing, optional: true }],
      useFactory: (dataSource: DataSource, waits: DatabaseWaits, tracing: Tracing | undefined) => {
        const database = Database.over(dataSource, waits);
        const system = dataSource.options.type === 'mysql' ? 'mysql' : 'sqlite';
        return tracing ? traceDatabase(database, tracing, system) : database;
      },
    },
  ],
  exports: [Database, DatabaseConnection, DatabaseClock, DatabaseWaits, DiskSpace, UserTraces],
})
export class DatabaseModule {}
