import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LoginJournal } from '../../audit/login-journal';
import { DatabaseSettings } from '../../platform/config/database-settings';
import { RedisSettings } from '../../platform/config/redis-settings';
import { Database } from '../../platform/database/database';
import { DatabaseClock } from '../../platform/database/database-clock';
import { takesWrites } from '../../platform/database/writability';
import { checkClock, checkCluster, checkWrites } from './database-checks';
import type { Finding } from './finding';
import { checkCounters } from './peer-checks';

/** The database, through the connections of this process, and Redis. */
@Injectable()
export class StoreChecks {
  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
    private readonly journal: LoginJournal,
    private readonly databaseClock: DatabaseClock,
    private readonly settings: DatabaseSettings,
    private readonly redis: RedisSettings,
  ) {}

  ofDatabase(): Promise<Finding>[] {
    const { database, dataSource } = this;
    return [
      checkWrites(database, this.journal, () => takesWrites(database, dataSource)),
      checkCluster(this.settings, database),
      checkClock(this.databaseClock),
    ];
  }

  ofRedis(): Promise<Finding> {
    return checkCounters(this.redis);
  }
}
