import { type SourceRow, TableReader } from '../../platform/database/table-reader';
import { type AdoptedColumn, type AdoptionPlan, AdoptionProblem } from './adoption-plan';

export type AdoptedRow = Readonly<Partial<Record<AdoptedColumn, SourceRow[string]>>>;

/** The users table of the enterprise. It is only read. */
export class SourceTable {
  private constructor(
    private readonly reader: TableReader,
    private readonly table: string,
    private readonly columns: AdoptionPlan['columns'],
  ) {}

  /** @throws AdoptionProblem when the table or one of its columns does not exist, or may not be read */
  static async open(databaseUrl: string, plan: AdoptionPlan): Promise<SourceTable> {
    const reader = await TableReader.open(databaseUrl);
    try {
      return new SourceTable(reader, await checkedName(reader, plan), plan.columns);
    } catch (error) {
      reader.close();
      throw error;
    }
  }

  async size(): Promise<number> {
    let size = 0;
    for await (const { n } of this.reader.rows(`SELECT COUNT(*) AS n FROM ${this.table}`)) size = Number(n);
    return size;
  }

  /** Rows under the names of the columns of `users`, in the order of the database. */
  rows(): AsyncIterable<AdoptedRow> | Iterable<AdoptedRow> {
    const selected = [...this.columns].map(([column, source]) => `${this.reader.quoted(source)} AS ${column}`);
    return this.reader.rows(`SELECT ${selected.join(', ')} FROM ${this.table}`);
  }

  close(): void {
    this.reader.close();
  }
}

/** SQLite takes a quoted name that it does not know for a text. Therefore each name is looked up. */
async function checkedName(reader: TableReader, { source, columns }: AdoptionPlan): Promise<string> {
  const own = await reader.schema();
  const [table = '', schema = own] = [...source].reverse();
  if (own === null && source.length > 1) {
    throw new AdoptionProblem('source must be a table of the same SQLite file, without a schema');
  }
  if (table.toLowerCase() === 'users' && schema?.toLowerCase() === own?.toLowerCase()) {
    throw new AdoptionProblem('source is the table `users` of this service: name the table of the other system');
  }
  const known = new Set((await reader.columns(schema, table)).map((name) => name.toLowerCase()));
  if (known.size === 0) {
    throw new AdoptionProblem(`source: there is no table ${source.join('.')} that the user of DATABASE_URL may read`);
  }
  for (const [key, column] of columns) {
    if (known.has(column.toLowerCase())) continue;
    throw new AdoptionProblem(`columns.${key}: the table ${source.join('.')} has no column ${JSON.stringify(column)}`);
  }
  return [...(source.length > 1 ? [String(schema)] : []), table].map((name) => reader.quoted(name)).join('.');
}
