import { existsSync } from 'node:fs';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { migrationOptions } from '../../platform/database/typeorm-options';

/** A table as the server estimates it. Bytes are null for SQLite, which does not tell them. */
export interface TableSize {
  readonly rows: number;
  readonly bytes: number | null;
}

/** Reads the database of the service, and can write nothing. */
export class LiveDatabase {
  private constructor(readonly source: DataSource) {}

  /** @returns undefined when the file of SQLite does not exist yet: opening it would create it */
  static async open(url: string): Promise<LiveDatabase | undefined> {
    // One connection, whose settings hold for every statement.
    const options = { ...migrationOptions(url), poolSize: 1 } as DataSourceOptions;
    if (options.type === 'better-sqlite3' && !existsSync(options.database)) return undefined;
    const readOnly = { readonly: true, enableWAL: false, prepareDatabase: undefined };
    const source = new DataSource(options.type === 'mysql' ? options : { ...options, ...readOnly });
    await source.initialize();
    if (options.type === 'mysql') await source.query('SET SESSION TRANSACTION READ ONLY');
    return new LiveDatabase(source);
  }

  get mysql(): boolean {
    return this.source.options.type === 'mysql';
  }

  close(): Promise<void> {
    return this.source.destroy();
  }

  rows<T>(sql: string): Promise<T[]> {
    return this.source.query(sql);
  }

  /** All migrations that have run, also those that this version does not know. Empty: the database is new. */
  async ran(): Promise<ReadonlySet<string>> {
    const found = await this.rows<{ name: string }>(
      this.mysql
        ? `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'migrations'`
        : `SELECT name FROM sqlite_master WHERE name = 'migrations'`,
    );
    if (found.length === 0) return new Set();
    return new Set((await this.rows<{ name: string }>('SELECT name FROM migrations')).map(({ name }) => name));
  }

  /** @param exactly tables whose rows SQLite counts */
  async sizes(exactly: readonly string[]): Promise<ReadonlyMap<string, TableSize>> {
    if (this.mysql) {
      const tables = await this.rows<{ name: string; rows: unknown; bytes: unknown }>(
        `SELECT TABLE_NAME AS name, TABLE_ROWS AS \`rows\`, DATA_LENGTH + INDEX_LENGTH AS bytes FROM information_schema.TABLES
         WHERE TABLE_SCHEMA = DATABASE()`,
      );
      return new Map(tables.map(({ name, rows, bytes }) => [name, { rows: Number(rows), bytes: Number(bytes) }]));
    }
    const sizes = new Map<string, TableSize>();
    const there = await this.rows<{ name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table'`);
    for (const { name } of there.filter((one) => exactly.includes(one.name))) {
      const [counted] = await this.rows<{ total: number }>(`SELECT COUNT(*) AS total FROM "${name}"`);
      sizes.set(name, { rows: Number(counted?.total), bytes: null });
    }
    return sizes;
  }

  /** The hosts that have connections of this account to this database, without this command. */
  async connectedHosts(): Promise<ReadonlyMap<string, number> | undefined> {
    if (!this.mysql) return undefined;
    const found = await this.rows<{ host: string }>(
      'SELECT HOST AS host FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()',
    );
    const hosts = new Map<string, number>();
    for (const { host } of found) {
      const name = host.replace(/:\d+$/, '');
      hosts.set(name, (hosts.get(name) ?? 0) + 1);
    }
    return hosts;
  }
}
