import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AppConfig } from '../config/app-config';
import { Database } from './database';
import { DatabaseOutages } from './database-outages';
import { DatabaseWaits } from './database-waits';
import { ForeignTables } from './foreign-tables';
import { migrate, pendingMigrations } from './migrator';
import { boundThePool } from './mysql-pool';
import { giveEachCallerItsOwnRunner } from './sqlite-runners';
import { isStoreFailure, storeCode } from './store-failure';
import { takesWrites } from './writability';

const retryDelaysMs = [250, 500, 1000, 2000];
/** The program does not listen before its first attempt has ended, and an orchestrator would kill it meanwhile. */
const migrationPatienceSeconds = 5;

export type StoreState = 'ok' | 'unreachable' | 'read only' | 'migrations pending';

/**
 * Connects when the program starts, and goes on trying while the store is away: the process lives, readiness is red, and
 * every request is answered 503 until it is there (T260).
 */
@Injectable()
export class DatabaseConnection implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('database');
  private markUsable!: () => void;
  /** Resolves once the store was found with its schema; never where that does not happen. */
  readonly usable = new Promise<void>((resolve) => (this.markUsable = resolve));
  private pending: readonly string[] | undefined;
  private told: StoreState = 'ok';
  private toldProblem: string | undefined;
  private retry: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
    private readonly config: AppConfig,
    private readonly waits: DatabaseWaits,
    private readonly outages: DatabaseOutages,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.connect(0);
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    clearTimeout(this.retry);
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  /** Does the store answer, take writes, and have the schema that this program needs? Asked anew each time. */
  async probe(): Promise<StoreState> {
    if (!this.dataSource.isInitialized) return 'unreachable';
    const state = await this.look().catch(() => 'unreachable' as const);
    // That the store is away is told by `DatabaseOutages`, which sees every statement.
    if (state !== 'unreachable') this.tell(state);
    return state;
  }

  private async look(): Promise<StoreState> {
    await this.database.rows('SELECT 1 AS one');
    if (this.pending === undefined || this.pending.length > 0) this.pending = await pendingMigrations(this.dataSource);
    if (this.pending.length > 0) return 'migrations pending';
    this.markUsable();
    return (await takesWrites(this.database, this.dataSource)) ? 'ok' : 'read only';
  }

  /** One line for each change, however often it is asked. */
  private tell(state: StoreState): void {
    const before = this.told;
    if (state === before) return;
    this.told = state;
    if (before === 'migrations pending') this.logger.log('the migrations have run');
    if (before === 'read only') this.logger.log('the database takes writes again');
    if (state === 'migrations pending') {
      this.logger.warn({ migrations: this.pending }, 'migrations are pending: run migrate; not ready until then');
    }
    if (state === 'read only')
      this.logger.error('the database is read-only for this account; not ready until it is not');
  }

  private async connect(attempt: number): Promise<void> {
    try {
      if (this.config.database.migrateOnStart) {
        const names = await migrate(this.config.database.url, migrationPatienceSeconds);
        if (names.length > 0) this.logger.log({ migrations: names }, 'migrated the database');
      }
      await this.dataSource.initialize();
      if (this.dataSource.options.type === 'mysql') boundThePool(this.dataSource, this.waits, this.outages);
      else giveEachCallerItsOwnRunner(this.dataSource);
      this.outages.answered(this.outages.mark);
      await this.probe();
    } catch (error) {
      this.tellFailure(error);
      if (this.closed) return;
      const delay = retryDelaysMs[Math.min(attempt, retryDelaysMs.length - 1)];
      this.retry = setTimeout(() => void this.connect(attempt + 1), delay);
    }
  }

  private tellFailure(error: unknown): void {
    if (isStoreFailure(error)) return this.outages.refused(error);
    // Of other errors only the code: a driver's message may quote the user name or the address with its password.
    const problem = error instanceof ForeignTables ? error.message : storeCode(error) || (error as Error).name;
    if (problem === this.toldProblem) return;
    this.toldProblem = problem;
    this.logger.error({ problem }, 'cannot use the database, trying again');
  }
}
