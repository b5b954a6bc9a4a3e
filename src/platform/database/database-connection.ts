import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DatabaseSettings } from '../config/database-settings';
import { Database } from './database';
import { DatabaseOutages } from './database-outages';
import { DatabaseWaits } from './database-waits';
import { DiskSpace } from './disk-space';
import { ForeignTables } from './foreign-tables';
import { migrate, pendingMigrations } from './migrator';
import { NewConnections } from './new-connections';
import { boundThePool } from './mysql-pool';
import { giveEachCallerItsOwnRunner } from './sqlite-runners';
import { isStoreFailure, storeCode } from './store-failure';
import { isRefusedLogin, lacksPrivilege, storeReason } from './store-reason';
import { takesWrites } from './writability';

const retryDelaysMs = [250, 500, 1000, 2000];
/** The program listens after its first attempt to connect. A longer wait would make an orchestrator end the program. */
const migrationPatienceSeconds = 5;

export type StoreState =
  'ok' | 'unreachable' | 'refuses connections' | 'missing privilege' | 'read only' | 'migrations pending';

/** What is logged when a state begins and when it ends. DatabaseOutages and NewConnections log the other states. */
const told: Partial<Record<StoreState, readonly [begin: string, end: string]>> = {
  'missing privilege': [
    'the account of the database lacks a privilege: not ready until it is granted',
    'the account of the database has its privileges',
  ],
  'read only': [
    'the database is read-only for this account: not ready until it accepts writes',
    'the database takes writes again',
  ],
  'migrations pending': ['migrations are pending: run migrate; not ready until then', 'the migrations have run'],
};

/**
 * Connects when the program starts, and retries while the database is unavailable (docs/spec/attacks.md#t260). Until
 * the database answers, the process keeps running, readiness is red, and requests get 503.
 */
@Injectable()
export class DatabaseConnection implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('database');
  private markUsable!: () => void;
  /** Resolves when the database has answered and has its schema. Until then the promise is pending. */
  readonly usable = new Promise<void>((resolve) => (this.markUsable = resolve));
  private pending: readonly string[] | undefined;
  /** Why the last probe failed: "the database …". */
  reason = 'cannot be reached';
  private logged: StoreState = 'ok';
  private lastFailure: StoreState = 'unreachable';
  private loggedProblem: string | undefined;
  private retry: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
    private readonly settings: DatabaseSettings,
    private readonly waits: DatabaseWaits,
    private readonly outages: DatabaseOutages,
    private readonly newConnections: NewConnections,
    private readonly disk: DiskSpace,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.connect(0);
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    clearTimeout(this.retry);
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  /**
   * Checks whether the database answers, accepts writes and has the schema that this program needs. Nothing is cached.
   */
  async probe(): Promise<StoreState> {
    if (!this.dataSource.isInitialized) return this.lastFailure;
    try {
      const state = await this.look();
      this.logChange(state);
      return state;
    } catch (error) {
      return this.failed((error as Error).cause ?? error);
    }
  }

  private async look(): Promise<StoreState> {
    await this.database.rows('SELECT 1 AS one');
    if (this.pending === undefined || this.pending.length > 0) this.pending = await pendingMigrations(this.dataSource);
    if (this.pending.length > 0) return 'migrations pending';
    this.markUsable();
    if (!(await takesWrites(this.database, this.dataSource))) return 'read only';
    return (await this.newConnections.allowed()) ? 'ok' : 'refuses connections';
  }

  private failed(error: unknown): StoreState {
    this.reason = storeReason(error);
    const denied = lacksPrivilege(error);
    this.lastFailure = denied ? 'missing privilege' : isRefusedLogin(error) ? 'refuses connections' : 'unreachable';
    if (denied) this.logChange(this.lastFailure);
    return this.lastFailure;
  }

  /** Logs one line for each change of the state. */
  private logChange(state: StoreState): void {
    const before = this.logged;
    if (state === before) return;
    this.logged = state;
    const end = told[before]?.[1];
    if (end !== undefined) this.logger.log(end);
    const begin = told[state]?.[0];
    if (state === 'migrations pending') this.logger.warn({ migrations: this.pending }, begin);
    else if (state === 'missing privilege') this.logger.error({ reason: this.reason }, begin);
    else if (begin !== undefined) this.logger.error(begin);
  }

  private async connect(attempt: number): Promise<void> {
    const { url } = this.newConnections;
    try {
      if (this.settings.migrateOnStart) {
        const names = await migrate(url, migrationPatienceSeconds);
        if (names.length > 0) this.logger.log({ migrations: names }, 'migrated the database');
      }
      await this.dataSource.initialize();
      if (this.dataSource.options.type === 'mysql')
        boundThePool(this.dataSource, this.waits, this.outages, this.newConnections, this.disk);
      else giveEachCallerItsOwnRunner(this.dataSource, (error) => this.disk.failed(error));
      this.outages.answered(this.outages.mark);
      await this.probe();
    } catch (error) {
      this.failed(error);
      this.newConnections.failed(error, url);
      this.logFailure(error);
      if (this.closed) return;
      const delay = retryDelaysMs[Math.min(attempt, retryDelaysMs.length - 1)];
      this.retry = setTimeout(() => void this.connect(attempt + 1), delay);
    }
  }

  private logFailure(error: unknown): void {
    if (lacksPrivilege(error)) return;
    if (isStoreFailure(error)) return this.outages.refused(error);
    // Other errors are logged by their code only, because the message of a driver may quote the user name or the URL
    // with its password.
    const problem = error instanceof ForeignTables ? error.message : storeCode(error) || (error as Error).name;
    if (problem === this.loggedProblem) return;
    this.loggedProblem = problem;
    this.logger.error({ problem }, 'cannot use the database, trying again');
  }
}
