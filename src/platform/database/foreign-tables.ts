import type { QueryRunner } from 'typeorm';
import { Columns, madeByUs } from '../../../migrations/columns';
import type { RepeatableMigration } from '../../../migrations/repeatable';

/** The table in which TypeORM lists the migrations that have run, and its columns. */
const ledger = 'migrations';
const ledgerColumns = 'id,name,timestamp';

interface Found {
  readonly name: string;
  /** The comment of the table. SQLite has no comments; the comment of a view is `VIEW`. */
  readonly comment: string;
}

/** The database has tables that another program made and that have names of this service. */
export class ForeignTables extends Error {
  override readonly name = 'ForeignTables';

  constructor(readonly tables: readonly string[]) {
    super(
      `the database has tables with names of this service that this service did not make: ${tables.join(', ')}; ` +
        'nothing was changed, give the service its own database',
    );
  }
}

/**
 * Checks the database under the migration lock, before the first change (ADR 0017). A killed run of this service leaves
 * tables with its comment (MySQL), or no tables (SQLite, one transaction). Any other table of these names is foreign.
 * @throws ForeignTables
 */
export async function assertNoForeignTables(runner: QueryRunner): Promise<void> {
  const found = await existingTables(runner);
  const run = await namesInLedger(runner, found);
  const pending = (runner.dataSource.migrations as RepeatableMigration[]).filter(({ name }) => !run?.has(name));
  if (run !== undefined && pending.length === 0) return;
  const columns = new Columns(runner);
  const needed = new Set(pending.flatMap((migration) => migration.tables?.(columns) ?? []).map(({ name }) => name));
  const foreign = [...found.values()].filter(({ name, comment }) => needed.has(name) && comment !== madeByUs);
  const names = foreign.map(({ name }) => name).concat(run === undefined ? [ledger] : []);
  if (names.length > 0) throw new ForeignTables(names.sort());
}

/** Tables by their name, in lower case if the server ignores the case of table names (SQLite, some MySQL servers). */
async function existingTables(runner: QueryRunner): Promise<Map<string, Found>> {
  const mysql = runner.dataSource.options.type === 'mysql';
  const tables = (await runner.query(
    mysql
      ? `SELECT TABLE_NAME AS name, TABLE_COMMENT AS comment, @@lower_case_table_names AS folded
         FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()`
      : "SELECT name, '' AS comment, 1 AS folded FROM sqlite_master WHERE type IN ('table', 'view')",
  )) as (Found & { folded: unknown })[];
  return new Map(
    tables.map(({ name, comment, folded }) => {
      const known = Number(folded) === 0 ? name : name.toLowerCase();
      return [known, { name: known, comment }];
    }),
  );
}

/**
 * Names of the migrations that have run; empty before the first one.
 * @returns undefined if another program made the table `migrations`: it has other columns, or lacks the first migration
 */
async function namesInLedger(
  runner: QueryRunner,
  found: ReadonlyMap<string, Found>,
): Promise<ReadonlySet<string> | undefined> {
  if (!found.has(ledger)) return new Set();
  const columns = (await runner.getTable(ledger))?.columns.map(({ name }) => name).sort();
  if (columns?.join(',') !== ledgerColumns) return undefined;
  const rows = (await runner.query(`SELECT name FROM ${ledger}`)) as { name: string }[];
  const names = new Set(rows.map(({ name }) => name));
  const first = (runner.dataSource.migrations as RepeatableMigration[])[0]?.name ?? '';
  return names.size === 0 || names.has(first) ? names : undefined;
}
