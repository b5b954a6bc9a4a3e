import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { isSealed, KeyRing } from '../platform/crypto/key-ring';
import { Database } from '../platform/database/database';
import { DatabaseConnection } from '../platform/database/database-connection';
import type { SealedColumn } from '../platform/crypto/resealing';
import { sealedColumns } from './sealed-columns';

/** Rows to check of each column: a wrong key fails at the first sealed value. `doctor` checks all rows. */
const sampleRows = 100;

/** Opens a sample of the sealed values at the start, so that KeyRing logs a wrong key before a user needs a value. */
@Injectable()
export class DataKeyCheck implements OnApplicationBootstrap {
  constructor(
    private readonly connection: DatabaseConnection,
    private readonly database: Database,
    private readonly keys: KeyRing,
  ) {}

  onApplicationBootstrap(): void {
    void this.connection.usable.then(() => this.check()).catch(() => undefined);
  }

  async check(): Promise<void> {
    for (const column of sealedColumns) {
      const values = await this.sample(column);
      for (const value of values) this.tryToOpen(column.purpose, value);
    }
  }

  /**
   * The first rows of the primary key, and of these the ones that `only` means. Among all mails the database would look for a
   * hundred of a rare kind until the end of the table.
   */
  private async sample({ table, key, column, only = '1 = 1' }: SealedColumn): Promise<string[]> {
    const rows = await this.database.rows<{ sealed: string | null }>(
      `SELECT ${column} AS sealed FROM (SELECT * FROM ${table} ORDER BY ${key} LIMIT ${sampleRows}) first_rows WHERE ${only}`,
    );
    return rows.flatMap(({ sealed }) => (sealed !== null && isSealed(sealed) ? [sealed] : []));
  }

  private tryToOpen(purpose: string, sealed: string): void {
    try {
      this.keys.open(purpose, sealed);
    } catch {
      // KeyRing has logged the wrong key.
    }
  }
}
