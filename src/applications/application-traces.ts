import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import { hour, type OldRows } from '../platform/database/old-rows';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import { ApplicationSessions } from './application-sessions.repository';
import { OidcRecords } from './persistence/oidc-record.repository';

/** A record is not found after it has expired. */
export const oldOidcRecords: OldRows = { table: 'oidc_records', key: 'id_hash', time: 'expires', seconds: hour };

/** The receipts are a log. Only a token for an application that was deleted still waits after so long. */
export const oldLogouts: OldRows = {
  table: 'application_logouts',
  key: 'id',
  time: 'created_at',
  seconds: 'logs',
};

/**
 * What the tables of this module keep of a user who is deleted (docs/spec/extensions.md#d). `application_logouts` stays: it
 * has the uid alone, and it proves that the applications were told of the end.
 */
@Injectable()
export class ApplicationTraces implements UserTrace {
  readonly tables = ['application_sessions', 'oidc_records'];

  constructor(
    traces: UserTraces,
    private readonly database: Database,
    private readonly sessions: ApplicationSessions,
    private readonly records: OidcRecords,
  ) {
    traces.register(this);
  }

  /** The sessions have ended in this transaction, so their logout tokens are queued and need these rows no more. */
  async erase(tx: Transaction, uid: string): Promise<void> {
    await this.sessions.removeOf(tx, uid);
  }

  /** Records have ended with the user, so it is enough to delete them here. */
  async settle(uid: string): Promise<void> {
    await this.sessions.removeOf(this.database, uid);
    await this.records.removeOf(uid);
  }
}
