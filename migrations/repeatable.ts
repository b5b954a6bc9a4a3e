import type { MigrationInterface, Table } from 'typeorm';
import type { Columns } from './columns';

/**
 * MySQL commits each DDL statement by itself, so a migration may be interrupted after any statement. It then runs again
 * from its beginning. Each step must therefore check whether it is already done (`Columns.create`, `add`, `addIndex`).
 */
export interface RepeatableMigration extends MigrationInterface {
  readonly name: string;
  /** The tables that the migration creates. The migrator refuses to start if another program has tables so named. */
  tables?(columns: Columns): Table[];
}
