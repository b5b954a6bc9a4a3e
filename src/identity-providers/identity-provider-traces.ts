import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import { hour, type OldRows } from '../platform/database/old-rows';
import type { ToldTable } from '../platform/database/told-rows';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import type { Sql } from '../platform/database/sql';
import { ExternalIdentities } from './external-identities.repository';
import { ExternalSessions } from './external-sessions.repository';
import { ExternalSignIns } from './external-sign-ins.repository';

/** A sign-in that has expired is not found. */
export const oldExternalSignIns: OldRows = {
  table: 'external_sign_ins',
  key: 'state_hash',
  time: 'expires',
  seconds: hour,
};

const nameOf = (table: string) => ({
  identity_provider: `(SELECT p.name FROM identity_providers p WHERE p.id = ${table}.identity_provider_id)`,
});

const toldIdentities: ToldTable = {
  table: 'external_identities',
  user: 'user_id',
  order: ['identity_provider_id'],
  more: nameOf('external_identities'),
  columns: {
    ...{ identity_provider_id: 'value', subject: 'value', subject_hash: 'internal' },
    ...{ bound_at: 'time', last_used_at: 'time', signed_out_at: 'time' },
  },
};

const toldSessions: ToldTable = {
  table: 'external_sessions',
  user: 'user_id',
  order: ['sid'],
  more: nameOf('external_sessions'),
  columns: {
    ...{ sid: 'value', identity_provider_id: 'value', began_at: 'time' },
    ...{ subject_hash: 'internal', provider_sid_hash: 'withheld' },
  },
};

/** The payload has the secrets of the request, and the result is what the provider said once. Both are sealed. */
const toldSignIns: ToldTable = {
  table: 'external_sign_ins',
  user: 'user_id',
  order: ['state_hash'],
  more: nameOf('external_sign_ins'),
  columns: {
    ...{ identity_provider_id: 'value', created_at: 'time', answered_at: 'time', spent_at: 'time', expires: 'time' },
    ...{ state_hash: 'withheld', browser_hash: 'withheld', code_hash: 'withheld' },
    ...{ payload: 'withheld', result: 'withheld', pending_id: 'internal' },
  },
};

/** What the tables of this module keep of a user who is deleted (docs/spec/extensions.md#d). */
@Injectable()
export class IdentityProviderTraces implements UserTrace {
  readonly tables = ['external_identities', 'external_sessions', 'external_sign_ins'];
  readonly told: readonly ToldTable[] = [toldIdentities, toldSessions, toldSignIns];

  constructor(
    traces: UserTraces,
    private readonly database: Database,
    private readonly identities: ExternalIdentities,
    private readonly sessions: ExternalSessions,
    private readonly signIns: ExternalSignIns,
  ) {
    traces.register(this);
  }

  /** The binding stays, as a password does: the disabled account signs in no more. */
  async leave(tx: Transaction, uid: string) {
    return { external_sign_ins: await this.signIns.endOpen(tx, uid) };
  }

  erase(tx: Transaction, uid: string): Promise<void> {
    return this.remove(tx, uid);
  }

  /** A sign-in that was under way when the user was deleted. */
  settle(uid: string): Promise<void> {
    return this.remove(this.database, uid);
  }

  private async remove(sql: Sql, uid: string): Promise<void> {
    await this.identities.removeOf(sql, uid);
    await this.sessions.removeOf(sql, uid);
    await this.signIns.removeOf(sql, uid);
  }
}
