import type { EntityManager } from 'typeorm';
import { Database, Transaction } from '../database/database';
import type { SqlValue } from '../database/sql';
import type { Tracing } from './tracing';

export type DatabaseSystem = 'mysql' | 'sqlite' | 'redis';

/** `db.system` is what most backends still group by; `db.system.name` took its place when the convention became stable. */
export function databaseSystem(system: DatabaseSystem): Readonly<Record<string, string>> {
  return { 'db.system': system, 'db.system.name': system };
}

/** A span for each statement and one around each transaction; with the statement's text, which has placeholders only. */
export class TracedDatabase extends Database {
  constructor(
    private readonly database: Database,
    private readonly tracing: Tracing,
    private readonly system: DatabaseSystem,
  ) {
    super();
  }

  rows<Row>(statement: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return traced(this.tracing, this.system, statement, () => this.database.rows<Row>(statement, values));
  }

  affected(statement: string, values?: readonly SqlValue[]): Promise<number> {
    return traced(this.tracing, this.system, statement, () => this.database.affected(statement, values));
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.tracing.span('transaction', { attributes: databaseSystem(this.system) }, () =>
      this.database.transaction((tx) => work(new TracedTransaction(tx, this.tracing, this.system))),
    );
  }
}

class TracedTransaction extends Transaction {
  readonly manager: EntityManager;

  constructor(
    private readonly tx: Transaction,
    private readonly tracing: Tracing,
    private readonly system: DatabaseSystem,
  ) {
    super();
    this.manager = tx.manager;
  }

  rows<Row>(statement: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return traced(this.tracing, this.system, statement, () => this.tx.rows<Row>(statement, values));
  }

  affected(statement: string, values?: readonly SqlValue[]): Promise<number> {
    return traced(this.tracing, this.system, statement, () => this.tx.affected(statement, values));
  }
}

function traced<T>(tracing: Tracing, system: DatabaseSystem, statement: string, work: () => Promise<T>): Promise<T> {
  const [, verb = 'SQL'] = /^\s*(\w+)/.exec(statement) ?? [];
  // Not that of a subselect among the columns.
  const [, table = ''] = /\b(?:FROM|INTO|UPDATE)\s+`?(\w+)/i.exec(statement.replace(/\([^()]*\)/g, '')) ?? [];
  const text = statement.replace(/\s+/g, ' ').trim();
  const attributes = { ...databaseSystem(system), 'db.query.text': text };
  return tracing.span(`${verb.toUpperCase()} ${table}`.trim(), { attributes }, work);
}
