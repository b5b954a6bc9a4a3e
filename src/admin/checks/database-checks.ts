import { randomUUID } from 'node:crypto';
import type { LoginJournal } from '../../audit/login-journal';
import type { DatabaseSettings } from '../../platform/config/database-settings';
import { clusterOf } from '../../platform/database/cluster';
import type { Database } from '../../platform/database/database';
import { clockState, type DatabaseClock } from '../../platform/database/database-clock';
import { storeCode } from '../../platform/database/store-failure';
import { storeReason } from '../../platform/database/store-reason';
import { rehearseRow, rolledBack } from '../../platform/database/writability';
import { rehearseWrite } from '../../users/users.repository';
import { type Finding, finding, type Health } from './finding';

/**
 * Makes the writes of a login and rolls them back, to find a read-only primary, an account that may only read, and a full
 * disk.
 * @param takesWrites the check of readiness, which also finds a read-only primary for an administrative account
 */
export function checkWrites(
  database: Database,
  journal: LoginJournal,
  takesWrites: () => Promise<boolean>,
): Promise<Finding> {
  return finding(
    'writes',
    async () => {
      if (!(await takesWrites())) return ['problem', 'the database is read-only'];
      await rolledBack(database, async (tx) => {
        await rehearseWrite(tx);
        await rehearseRow(tx, `doctor-${randomUUID()}`);
        await journal.rehearse(tx);
      });
      return ['ok', 'insert, update and delete, rolled back'];
    },
    (error) => `the database ${storeReason((error as Error).cause ?? error)}`,
  );
}

/** Without causal reads, a token that was revoked through one node is accepted by another one for a moment (ADR 0029). */
export function checkCluster({ url }: DatabaseSettings, database: Database): Promise<Finding> {
  return finding(
    'cluster',
    async () => {
      const sqlite = url.startsWith('sqlite:');
      const cluster = sqlite ? undefined : await clusterOf((statement) => database.rows(statement));
      if (cluster === undefined) return ['skipped', 'the database is a single server'];
      if (!cluster.causal) return ['problem', `${cluster.kind} without causal reads: ${cluster.setting} on each node`];
      return ['ok', `${cluster.kind} with causal reads`];
    },
    (error) => `no answer (${storeCode((error as Error).cause ?? error) || (error as Error).name})`,
  );
}

export function checkClock(clock: DatabaseClock): Promise<Finding> {
  return finding(
    'clock',
    async () => {
      const offset = Math.round(await clock.offsetMs());
      const text = offset === 0 ? "agrees with the database's" : `${offset} ms from the database's`;
      return [{ ok: 'ok', off: 'warn', 'far off': 'problem' }[clockState(offset)] as Health, text];
    },
    () => 'the database did not return its time',
  );
}
