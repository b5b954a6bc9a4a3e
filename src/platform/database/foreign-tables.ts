import type { QueryRunner } from 'typeorm';
import { Columns, madeByUs } from '../../../migrations/columns';
import type { RepeatableMigration } from '../../../migrations/repeatable';

/** TypeORM's list of the migrations that have run, and its columns. */
const ledger = 'migrations';
const ledgerColumns = 'id,name,timestamp';

interface Found {
  readonly name: string;
  /** The comment of the table; SQLite has none, and a view says `VIEW`. */
  readonly comment: string;
}

/** The database has tables of our names that another program made. */
export class ForeignTables extends Error {
  override readonly name = 'ForeignTables';

  constructor(readonly tables: readonly string[]) {
    super(
      `the database has tables of these names that this service did not make: ${tables.join(', ')}; ` +
        'nothing was changed, give the service a database of its own',
    );
  }
}

/**
 * Asked under the migration lock, before the first change. A run of ours that was cut off has left tables with our comment
 * (MySQL) or none at all (SQLite, one transaction), so any other table of these names is somebody else's.
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

/** By the name as the server compares it, which for SQLite and some MySQL servers is without its case. */
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
 * @returns undefined when the table `migrations` is another program's: other columns, or rows without our first migration.
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
