import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { sealedMailColumns } from '../mail/sealed-mail-columns';
import { sealedTotpColumns } from '../mfa/sealed-totp-columns';
import { isSealed, KeyRing } from '../platform/crypto/key-ring';
import { Database } from '../platform/database/database';
import { DatabaseConnection } from '../platform/database/database-connection';
import type { SealedColumn } from '../platform/crypto/resealing';

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
    void this.connection.usable.then(() => this.look()).catch(() => undefined);
  }

  private async look(): Promise<void> {
    for (const column of [...sealedTotpColumns, ...sealedMailColumns]) {
      const values = await this.sample(column);
      for (const value of values) this.tryToOpen(column.purpose, value);
    }
  }

  /** The rows are ordered by the primary key, so that the statement reads a bounded number of rows. */
  private async sample({ table, key, column, only = '1 = 1' }: SealedColumn): Promise<string[]> {
    const rows = await this.database.rows<{ sealed: string | null }>(
      `SELECT ${column} AS sealed FROM ${table} WHERE ${only} ORDER BY ${key} LIMIT ${sampleRows}`,
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
