import { Injectable } from '@nestjs/common';
import { LockSettings } from './account-settings';
import { Database } from '../platform/database/database';
import type { SqlValue } from '../platform/database/sql';
import { Clock } from '../shared/clock';
import { tombstoneKeys } from './user-tombstones';
import { userStatus } from './user.entity';
import { notLocked } from './users.repository';

export interface UserTotals {
  readonly enabled: number;
  readonly notEnabled: number;
  readonly disabled: number;
  /** Without the deleted ones. */
  readonly expired: number;
  /** Rows without personal data that a deletion left (docs/spec/extensions.md#admin-endpoints). */
  readonly deleted: number;
  /** Locked now after failed logins. */
  readonly locked: number;
}

/**
 * Counts accounts. The counts by status read one entry of an index for each account, a quarter of a second for a million:
 * callers share the result for some seconds.
 */
@Injectable()
export class UserCounts {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly settings: LockSettings,
  ) {}

  /** @param tenantId undefined for all tenants */
  async of(tenantId: string | undefined): Promise<UserTotals> {
    const where = (condition: string) => (tenantId === undefined ? condition : `tenant_id = ? AND ${condition}`);
    const bound = (...values: SqlValue[]) => (tenantId === undefined ? values : [tenantId, ...values]);
    const count = async (condition: string, ...values: SqlValue[]) => {
      const row = await this.database.row<{ n: number }>(
        `SELECT COUNT(*) AS n FROM users WHERE ${where(condition)}`,
        bound(...values),
      );
      return Number(row?.n);
    };
    const rows = await this.database.rows<{ status: number; n: number }>(
      `SELECT status, COUNT(*) AS n FROM users WHERE ${where('1 = 1')} GROUP BY status`,
      bound(),
    );
    const withStatus = (status: number) => Number(rows.find((row) => row.status === status)?.n ?? 0);
    const deleted = await count('login_name_key >= ? AND deleted_at IS NOT NULL', tombstoneKeys);
    const { maxCount, windowSeconds } = this.settings;
    return {
      enabled: withStatus(userStatus.enabled),
      notEnabled: withStatus(userStatus.notEnabled),
      disabled: withStatus(userStatus.disabled),
      expired: withStatus(userStatus.expired) - deleted,
      deleted,
      // The first condition is the one that an index decides. `notLocked` is the definition.
      locked: await count(
        `last_login_failed_time > ? AND NOT (${notLocked})`,
        this.clock.secondsFromNow(-windowSeconds),
        maxCount,
        this.clock.secondsFromNow(-windowSeconds),
      ),
    };
  }
}
