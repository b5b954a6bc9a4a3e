import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AppConfig } from '../config/app-config';
import { Database } from './database';
import { isCurrent, migrate } from './migrator';
import { boundThePool } from './mysql-pool';
import { giveEachCallerItsOwnRunner } from './sqlite-runners';
import { storeCode } from './store-failure';

const retryDelaysMs = [250, 500, 1000, 2000];
/** The program does not listen before its first attempt has ended, and an orchestrator would kill it meanwhile. */
const migrationPatienceSeconds = 5;

/**
 * Connects when the program starts, and goes on trying while the store is away: the process lives, readiness is red, and
 * every request is answered 503 until it is there (T260).
 */
@Injectable()
export class DatabaseConnection implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('database');
  private current = false;
  private retry: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
    private readonly config: AppConfig,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.connect(0);
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    clearTimeout(this.retry);
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  /** Does the store answer, and is its schema the one that this program needs? Asked anew each time. */
  async probe(): Promise<'ok' | 'unreachable' | 'migrations pending'> {
    if (!this.dataSource.isInitialized) return 'unreachable';
    try {
      await this.database.rows('SELECT 1 AS one');
      if (!this.current) this.current = await isCurrent(this.dataSource);
      return this.current ? 'ok' : 'migrations pending';
    } catch {
      return 'unreachable';
    }
  }

  private async connect(attempt: number): Promise<void> {
    try {
      if (this.config.database.migrateOnStart) {
        const names = await migrate(this.config.database.url, migrationPatienceSeconds);
        if (names.length > 0) this.logger.log({ migrations: names }, 'migrated the database');
      }
      await this.dataSource.initialize();
      if (this.dataSource.options.type === 'mysql') boundThePool(this.dataSource);
      else giveEachCallerItsOwnRunner(this.dataSource);
    } catch (error) {
      // Only the code: a driver's message may quote the user name or the address with its password.
      this.logger.error(
        { code: storeCode(error) || (error as Error).name },
        'cannot connect to the database, trying again',
      );
      if (this.closed) return;
      const delay = retryDelaysMs[Math.min(attempt, retryDelaysMs.length - 1)];
      this.retry = setTimeout(() => void this.connect(attempt + 1), delay);
    }
  }
}
