import DataLoader from 'dataloader';
import type { Database } from '../../platform/database/database';
import { isDuplicate } from '../../platform/database/store-failure';
import type { OidcRecord } from './oidc-record.entity';

/** More records at once are stored by several statements. Each number needs its own prepared statement. */
const maxInsertionsAtOnce = 16;

export type NewRecord = Omit<OidcRecord, 'consumedAt'>;

/**
 * Stores new records. The requests in one iteration of the event loop share one INSERT and its commit, and each of them goes on
 * after the commit (ADR 0014).
 */
export class RecordInsertions {
  private readonly insertions = new DataLoader<NewRecord, boolean>((records) => this.addAll(records), {
    cache: false,
    maxBatchSize: maxInsertionsAtOnce,
    batchScheduleFn: setImmediate,
  });

  constructor(private readonly database: Database) {}

  /** @returns false when the table has a record with this hash */
  add(record: NewRecord): Promise<boolean> {
    return this.insertions.load(record);
  }

  /** @returns for each record whether it is stored now, or why nobody knows */
  private async addAll(records: readonly NewRecord[]): Promise<(boolean | Error)[]> {
    try {
      await this.database.affected(
        `INSERT INTO oidc_records (id_hash, kind, payload, grant_hash, uid_hash, user_code_hash, application_id, user_id, sid,
           credential_version, expires, created_at)
         VALUES ${records.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
        records.flatMap((one) => [
          ...[one.idHash, one.kind, one.payload, one.grantHash, one.uidHash, one.userCodeHash, one.applicationId],
          ...[one.userId, one.sid, one.credentialVersion, one.expires, one.createdAt],
        ]),
      );
      return records.map(() => true);
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      if (records.length === 1) return [false];
      // One record of a statement that stores several fails all of them, so each is tried by itself, and fails by itself.
      const tried = await Promise.allSettled(records.map((record) => this.addAll([record])));
      return tried.map((one) => (one.status === 'fulfilled' ? one.value[0]! : (one.reason as Error)));
    }
  }
}
