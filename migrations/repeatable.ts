import type { MigrationInterface, Table } from 'typeorm';
import type { Columns } from './columns';

/**
 * A migration that may be cut off after any statement and is then run again from its beginning: MySQL commits each DDL
 * statement by itself. Each step must therefore find out whether it has been done (`Columns.create`, `add`, `addIndex`).
 */
export interface RepeatableMigration extends MigrationInterface {
  readonly name: string;
  /** The tables that it makes. The migrator refuses to begin where another program has tables of these names. */
  tables?(columns: Columns): Table[];
}
