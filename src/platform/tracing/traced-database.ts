import type { Database, Transaction } from '../database/database';
import type { Sql, SqlValue } from '../database/sql';
import type { Tracing } from './tracing';

type DatabaseSystem = 'mysql' | 'sqlite' | 'redis';

/** The stable convention of OpenTelemetry is `db.system.name`. Most backends still group by the older `db.system`. */
export function databaseSystem(system: DatabaseSystem): Readonly<Record<string, string>> {
  return { 'db.system': system, 'db.system.name': system };
}

/**
 * Makes a span for each statement and each transaction. The span contains the text of the statement, which has
 * placeholders only.
 */
export function traceDatabase(database: Database, tracing: Tracing, system: DatabaseSystem): Database {
  const transaction = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    tracing.span('transaction', { attributes: databaseSystem(system) }, () =>
      database.transaction((tx) => work(traceStatements(tx, tracing, system))),
    );
  return Object.assign(traceStatements(database, tracing, system), { transaction });
}

/** The result inherits from `sql`, so that the other methods of `sql` call the traced ones. */
function traceStatements<S extends Sql>(sql: S, tracing: Tracing, system: DatabaseSystem): S {
  const methods: Pick<Sql, 'rows' | 'written'> = {
    rows: <Row>(statement: string, values?: readonly SqlValue[]) =>
      traced(tracing, system, statement, () => sql.rows<Row>(statement, values)),
    written: (statement, values) => traced(tracing, system, statement, () => sql.written(statement, values)),
  };
  return Object.assign(Object.create(sql) as S, methods);
}

function traced<T>(tracing: Tracing, system: DatabaseSystem, statement: string, work: () => Promise<T>): Promise<T> {
  const [, verb = 'SQL'] = /^\s*(\w+)/.exec(statement) ?? [];
  // Text in parentheses is removed, so that the table of a subselect is not taken for the table of the statement.
  const [, table = ''] = /\b(?:FROM|INTO|UPDATE)\s+`?(\w+)/i.exec(statement.replace(/\([^()]*\)/g, '')) ?? [];
  const text = statement.replace(/\s+/g, ' ').trim();
  const attributes = { ...databaseSystem(system), 'db.query.text': text };
  return tracing.span(`${verb.toUpperCase()} ${table}`.trim(), { attributes }, work);
}
