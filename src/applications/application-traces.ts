import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import { hour, type OldRows } from '../platform/database/old-rows';
import type { ToldTable } from '../platform/database/told-rows';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import { ApplicationSessions } from './application-sessions.repository';
import { logoutStatus } from './persistence/application-logout.entity';
import { OidcRecords } from './persistence/oidc-record.repository';

/**
 * The first interaction of a sign-in lives as long, and asks until then whether the pushed request that it began with was used
 * (`RecordAdapter`).
 */
export const oldOidcRecords: OldRows = { table: 'oidc_records', key: 'id_hash', time: 'expires', seconds: hour };

/** The receipts are a log. Only a token for an application that was deleted still waits after so long. */
export const oldLogouts: OldRows = {
  table: 'application_logouts',
  key: 'id',
  time: 'created_at',
  seconds: 'logs',
};

const nameOf = (table: string) => ({
  application: `(SELECT a.name FROM applications a WHERE a.id = ${table}.application_id)`,
});

const toldSignIns: ToldTable = {
  table: 'application_sessions',
  section: 'application_sign_ins',
  user: 'user_id',
  order: ['sid', 'application_id'],
  more: nameOf('application_sessions'),
  columns: { sid: 'value', application_id: 'value', began_at: 'time', logout_id: 'internal' },
};

/** Grants, codes and tokens. The ids are hashes, and the payload is sealed. */
const toldGrants: ToldTable = {
  table: 'oidc_records',
  section: 'application_grants',
  user: 'user_id',
  order: ['id_hash'],
  more: nameOf('oidc_records'),
  columns: {
    ...{ kind: 'value', application_id: 'value', sid: 'value' },
    ...{ created_at: 'time', consumed_at: 'time', expires: 'time' },
    ...{ id_hash: 'withheld', payload: 'withheld', grant_hash: 'internal', uid_hash: 'internal' },
    ...{ user_code_hash: 'internal', credential_version: 'internal' },
  },
};

const toldLogouts: ToldTable = {
  table: 'application_logouts',
  user: 'user_id',
  order: ['id'],
  more: nameOf('application_logouts'),
  columns: {
    ...{ id: 'value', application_id: 'value', sid: 'value', created_at: 'time', settled_at: 'time' },
    status: Object.fromEntries(Object.entries(logoutStatus).map(([name, value]) => [value, name])),
    ...{ attempts: 'number', answer: 'value' },
    ...{ next_attempt_at: 'internal', claimed_by: 'internal', claimed_until: 'internal' },
  },
};

/**
 * What the tables of this module keep of a user who is deleted (docs/spec/extensions.md#d). `application_logouts` stays: it
 * has the uid alone, and it proves that the applications were told of the end.
 */
@Injectable()
export class ApplicationTraces implements UserTrace {
  readonly tables = ['application_sessions', 'oidc_records'];
  readonly told: readonly ToldTable[] = [toldSignIns, toldGrants, toldLogouts];

  constructor(
    traces: UserTraces,
    private readonly database: Database,
    private readonly sessions: ApplicationSessions,
    private readonly records: OidcRecords,
  ) {
    traces.register(this);
  }

  /** Each code and token of a grant is refused from now on, also after the account is enabled again. */
  async leave(tx: Transaction, uid: string) {
    return { grants: await this.records.endGrants(tx, uid) };
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
