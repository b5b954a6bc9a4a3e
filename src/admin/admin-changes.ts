import { Injectable } from '@nestjs/common';
import { type AuditEntry, type AuditEvent, AuditTrail } from '../audit/audit-trail';
import { Cooldowns, type Gated } from '../platform/database/cooldown.repository';
import { Database, type Transaction } from '../platform/database/database';
import { DomainError } from '../shared/errors/domain-error';
import { accessTokenRevoked } from '../shared/errors/error-catalogue';
import { SubjectIds } from '../users/subject-ids';
import { UserLocks } from '../users/user-locks';
import type { Authority } from './authority';

/** One change: its transaction, and its audit row. */
export interface Change<Tx extends Transaction = Transaction> {
  readonly tx: Tx;
  record(event: AuditEvent, entry?: Pick<AuditEntry, 'userId' | 'detail'>): Promise<void>;
  /** The use case of another module has written its audit rows, or nothing had to change. */
  recorded(): void;
}

/** Each change by an administrator or an operator is one transaction with at least one audit row that names its actor. */
@Injectable()
export class AdminChanges {
  constructor(
    private readonly database: Database,
    private readonly cooldowns: Cooldowns,
    private readonly audit: AuditTrail,
    private readonly locks: UserLocks,
    private readonly ids: SubjectIds,
  ) {}

  /** @throws Error when the work has written no audit row; the change is rolled back */
  make<T>(by: Authority, work: (change: Change) => Promise<T>): Promise<T> {
    return this.database.transaction((tx) => this.recorded(by, tx, work));
  }

  /** Like `make`. The work tells whether it has changed anything, and only then it needs an audit row. */
  makeIfAny(by: Authority, work: (change: Change) => Promise<boolean>): Promise<boolean> {
    return this.database.transaction((tx) => this.recorded(by, tx, work, (changed) => changed));
  }

  /** Like `make`, under the lock that every change of the links of a user needs (ADR 0009). */
  makeWithLinks<T>(by: Authority, uid: string, work: (change: Change<Gated<'reset'>>) => Promise<T>): Promise<T> {
    return this.cooldowns.serialise({ kind: 'reset', subject: uid }, (tx) => this.recorded(by, tx, work));
  }

  /** Like `make`, under the lock that chosen ids of users, and ids of clients, need (`SubjectIds`). */
  makeWithIds<T>(by: Authority, work: (change: Change<Gated<'ids'>>) => Promise<T>): Promise<T> {
    return this.ids.serialise((tx) => this.recorded(by, tx, work));
  }

  private async recorded<Tx extends Transaction, T>(
    by: Authority,
    tx: Tx,
    work: (change: Change<Tx>) => Promise<T>,
    hasChanged: (result: T) => boolean = () => true,
  ): Promise<T> {
    await this.hold(tx, by);
    let recorded = false;
    const result = await work({
      tx,
      record: async (event, entry = {}) => {
        await this.audit.record(tx, event, { ...entry, actor: by.actor });
        recorded = true;
      },
      recorded: () => {
        recorded = true;
      },
    });
    if (!recorded && hasChanged(result)) throw new Error('a change by an administrator has no audit row');
    return result;
  }

  /**
   * Locks the row of the administrator until the transaction ends.
   * Races with a demotion, a move or a disabling of this administrator, on any replica. If it commits first, the
   * credential version has changed, and this UPDATE matches no row. If it comes later, it waits for this transaction.
   * @throws DomainError AUTH_401004
   */
  private async hold(tx: Transaction, { actor, credentialVersion, provisioning, role }: Authority): Promise<void> {
    if (actor === undefined || provisioning) return;
    const unchanged =
      credentialVersion !== undefined &&
      (await this.locks.holdAdministrator(tx, { uid: actor.id, credentialVersion }, role));
    if (!unchanged) throw new DomainError(accessTokenRevoked);
  }
}
