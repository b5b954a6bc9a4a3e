import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { migrate } from '../../../src/platform/database/migrator';
import type { Recorded } from './broken-promises';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: 0 | 1;
  readonly dflt_value: string | null;
  readonly pk: number;
}

/**
 * Every table with its columns after all migrations. `needs`: the columns that an INSERT must give. The version before
 * runs on the same schema during an upgrade, and it does not know new columns.
 */
export async function tables(): Promise<Recorded> {
  const folder = mkdtempSync(join(tmpdir(), 'promise-'));
  try {
    const file = join(folder, 'schema.sqlite');
    await migrate(`sqlite:${file}`);
    const database = new Database(file, { readonly: true });
    const names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
    const made = (names.all() as { name: string }[]).map(({ name }) => [
      name,
      recordOf(database.prepare(`SELECT * FROM pragma_table_xinfo('${name}')`).all() as Column[]),
    ]);
    database.close();
    return Object.fromEntries(made.sort()) as Recorded;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function recordOf(columns: readonly Column[]): Recorded {
  return {
    needs: columns.filter((one) => one.notnull && one.dflt_value === null && !isNumbered(one)).map(nameOf),
    columns: Object.fromEntries(columns.map((one) => [one.name, { type: one.type, null: one.notnull === 0 }])),
    'primary key': columns
      .filter(({ pk }) => pk > 0)
      .sort((a, b) => a.pk - b.pk)
      .map(nameOf)
      .join(', '),
  };
}

/** SQLite numbers the rows by itself. */
const isNumbered = ({ type, pk }: Column): boolean => pk > 0 && type.toUpperCase() === 'INTEGER';

const nameOf = ({ name }: Column): string => name;
