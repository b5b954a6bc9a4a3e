import type { QueryRunner } from 'typeorm';
import { storeCode } from '../store-failure';

/**
 * How a statement changes a table that has rows. `instant`: only its definition. `online`: it reads all rows, and writes go on.
 * `rebuild`: it copies the table. `rows`: it writes rows, in batches. `exclusive`: SQLite, where no other connection writes meanwhile.
 */
export type Kind = 'instant' | 'online' | 'rebuild' | 'rows' | 'exclusive';

export interface Change {
  readonly migration: string;
  readonly table: string;
  readonly kind: Kind;
  /** Whether writes to the table wait until the statement ends. */
  readonly blocks: boolean;
  readonly statement: string;
  readonly seconds: number;
  /** Rows that a statement of the kind `rows` has changed; 0 for a change of the schema. */
  readonly rows: number;
}

interface Attempt {
  readonly kind: Kind;
  readonly algorithm: string;
}

/**
 * From the lightest to the heaviest, each without blocking writes. MySQL does not know NOCOPY: there, an `INPLACE` that rebuilds
 * the table counts as online.
 */
const attempts: Readonly<Record<'MariaDB' | 'MySQL', readonly Attempt[]>> = {
  MariaDB: [
    { kind: 'instant', algorithm: 'ALGORITHM=INSTANT' },
    { kind: 'online', algorithm: 'ALGORITHM=NOCOPY, LOCK=NONE' },
    { kind: 'rebuild', algorithm: 'ALGORITHM=INPLACE, LOCK=NONE' },
  ],
  MySQL: [
    { kind: 'instant', algorithm: 'ALGORITHM=INSTANT' },
    { kind: 'online', algorithm: 'ALGORITHM=INPLACE, LOCK=NONE' },
  ],
};

/** The database cannot make the change with this algorithm or lock. It has changed nothing. */
const refused = new Set([
  'ER_ALTER_OPERATION_NOT_SUPPORTED',
  'ER_ALTER_OPERATION_NOT_SUPPORTED_REASON',
  'ER_UNKNOWN_ALTER_ALGORITHM',
]);

const named = '(?:`?\\w+`?\\.)?[`"]?(\\w+)[`"]?';
const patterns = {
  table: new RegExp(`^CREATE TABLE (?:IF NOT EXISTS )?${named}`, 'i'),
  schema: [
    new RegExp(`^ALTER TABLE ${named}`, 'i'),
    new RegExp(`^(?:CREATE (?:UNIQUE )?|DROP )INDEX \\S+ ON ${named}`, 'i'),
  ],
  rows: [
    new RegExp(`^(?:INSERT|REPLACE)(?: OR)?(?: IGNORE)? INTO ${named}`, 'i'),
    new RegExp(`^UPDATE ${named}`, 'i'),
    new RegExp(`^DELETE FROM ${named}`, 'i'),
  ],
};

/** The statements with which TypeORM lists a migration that has run. */
const ledger = 'migrations';

/**
 * Lets the database itself say how it makes each change: a change of the schema is first tried with the lightest algorithm, which
 * the database either uses or refuses.
 * @param runner the query runner of the migrations; its data source has the pending ones
 * @param server undefined for SQLite
 */
export function watchChanges(
  runner: QueryRunner,
  server: 'MariaDB' | 'MySQL' | undefined,
  seen: (change: Change) => void | Promise<void>,
): void {
  let migration = '';
  const created = new Set<string>();
  for (const one of runner.dataSource.migrations) {
    const up = one.up.bind(one);
    one.up = (given) => {
      migration = one.name ?? one.constructor.name;
      return up(given);
    };
  }
  const query = runner.query.bind(runner) as (sql: string, ...rest: unknown[]) => Promise<unknown>;
  const timed = async (statement: string, table: string, run: () => Promise<Partial<Change> & { result: unknown }>) => {
    const begun = performance.now();
    const { result, ...found } = await run();
    const seconds = (performance.now() - begun) / 1000;
    await seen({ migration, table, statement, seconds, kind: 'rows', blocks: false, rows: 0, ...found });
    return result;
  };

  const watched = async (text: string, ...rest: unknown[]): Promise<unknown> => {
    const statement = text.trim();
    const made = patterns.table.exec(statement)?.[1];
    if (made !== undefined) created.add(made);
    const altered = tableOf(statement, patterns.schema);
    if (altered !== undefined) {
      return timed(statement, altered, async () => {
        if (created.has(altered)) return { kind: 'instant', result: await query(text, ...rest) };
        if (server === undefined) return { ...kindOnSqlite(statement), result: await query(text, ...rest) };
        return lightest(attempts[server], statement, (sql) => query(sql, ...rest));
      });
    }
    const written = tableOf(statement, patterns.rows);
    if (written === undefined || written === ledger) return query(text, ...rest);
    return timed(statement, written, async () => {
      const result = await query(text, ...rest);
      const rows = Number((result as { affectedRows?: number } | undefined)?.affectedRows ?? 0);
      return { result, rows, kind: server === undefined ? 'exclusive' : 'rows', blocks: server === undefined };
    });
  };
  runner.query = watched as QueryRunner['query'];
}

async function lightest(
  tried: readonly Attempt[],
  statement: string,
  run: (sql: string) => Promise<unknown>,
): Promise<{ kind: Kind; blocks: boolean; result: unknown }> {
  const alter = asAlter(statement);
  for (const { kind, algorithm } of tried) {
    try {
      return { kind, blocks: false, result: await run(`${alter}, ${algorithm}`) };
    } catch (error) {
      if (!refused.has(storeCode(error))) throw error;
    }
  }
  return { kind: 'rebuild', blocks: true, result: await run(statement) };
}

/** Only ALTER TABLE takes an algorithm in each statement of MariaDB and MySQL. */
const asAlter = (statement: string): string =>
  statement
    .replace(/^CREATE (UNIQUE )?INDEX (\S+) ON (\S+) /i, 'ALTER TABLE $3 ADD $1INDEX $2 ')
    .replace(/^DROP INDEX (\S+) ON (\S+)/i, 'ALTER TABLE $2 DROP INDEX $1');

/** SQLite writes a new column or name into the schema only. All else reads or writes the rows. */
function kindOnSqlite(statement: string): { kind: Kind; blocks: boolean } {
  const instant = /^ALTER TABLE \S+ (ADD|RENAME)\b/i.test(statement);
  return instant ? { kind: 'instant', blocks: false } : { kind: 'exclusive', blocks: true };
}

const tableOf = (statement: string, forms: readonly RegExp[]): string | undefined =>
  forms.map((form) => form.exec(statement)?.[1]).find((table) => table !== undefined);
