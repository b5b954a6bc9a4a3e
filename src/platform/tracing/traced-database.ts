import type { EntityManager } from 'typeorm';
import { Database, Transaction } from '../database/database';
import type { SqlValue } from '../database/sql';
import type { Tracing } from './tracing';

type DatabaseSystem = 'mysql' | 'sqlite' | 'redis';

/** The stable convention says `db.system.name`. Most backends still group by the older `db.system`. */
export function databaseSystem(system: DatabaseSystem): Readonly<Record<string, string>> {
  return { 'db.system': system, 'db.system.name': system };
}

/**
 * Makes a span for each statement and each transaction. It carries the text of the statement, which has placeholders
 * only.
 */
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
  // Text in parentheses is removed, so that the table of a subselect is not taken.
  const [, table = ''] = /\b(?:FROM|INTO|UPDATE)\s+`?(\w+)/i.exec(statement.replace(/\([^()]*\)/g, '')) ?? [];
  const text = statement.replace(/\s+/g, ' ').trim();
  const attributes = { ...databaseSystem(system), 'db.query.text': text };
  return tracing.span(`${verb.toUpperCase()} ${table}`.trim(), { attributes }, work);
}
