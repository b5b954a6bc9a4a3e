import { Injectable, Logger } from '@nestjs/common';
import { LockSettings } from './account-settings';
import { Database } from '../platform/database/database';
import { withOwnTime } from '../platform/database/database-waits';
import type { SqlValue } from '../platform/database/sql';
import { Clock } from '../shared/clock';
import { RecentKeys } from '../shared/recent-keys';
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

/** The rows of each status, deleted ones included, and when they were counted. */
interface StatusCounts {
  readonly of: ReadonlyMap<number, number>;
  readonly rows: number;
  readonly at: number;
}

/** Accounts that are counted for each caller: some milliseconds. */
const countedAtOnce = 100_000;
/** Counts of more accounts are shown for this long for each account: five minutes for a million. */
const keptMsPerAccount = 0.3;
const keptTenants = 1000;
const longestKeptMs = 86_400_000;

/**
 * Counts accounts. The counts by status read one entry of an index for each account, a tenth of a second for a million. So of
 * many accounts they are kept for some minutes, and counted again while the former ones are shown.
 */
@Injectable()
export class UserCounts {
  private readonly logger = new Logger('users');
  private readonly kept = new RecentKeys<StatusCounts>(keptTenants);
  private readonly underWay = new Map<string, Promise<StatusCounts>>();

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
    const byStatus = await this.statusCounts(tenantId);
    const withStatus = (status: number) => byStatus.of.get(status) ?? 0;
    const deleted = await count('login_name_key >= ? AND deleted_at IS NOT NULL', tombstoneKeys);
    const { maxCount, windowSeconds } = this.settings;
    return {
      enabled: withStatus(userStatus.enabled),
      notEnabled: withStatus(userStatus.notEnabled),
      disabled: withStatus(userStatus.disabled),
      // The two numbers may be of different moments.
      expired: Math.max(0, withStatus(userStatus.expired) - deleted),
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

  private statusCounts(tenantId: string | undefined): StatusCounts | Promise<StatusCounts> {
    const key = tenantId === undefined ? '' : JSON.stringify(tenantId);
    const known = this.kept.get(key);
    const age = known === undefined ? Infinity : Math.abs(this.clock.now().getTime() - known.at);
    if (known === undefined || known.rows <= countedAtOnce || age > longestKeptMs) return this.counted(key, tenantId);
    if (age > known.rows * keptMsPerAccount) {
      withOwnTime(() => this.counted(key, tenantId)).catch((error: unknown) =>
        this.logger.warn({ err: error }, 'users were not counted'),
      );
    }
    return known;
  }

  /** One count at a time for each tenant. */
  private counted(key: string, tenantId: string | undefined): Promise<StatusCounts> {
    const known = this.underWay.get(key);
    if (known !== undefined) return known;
    const count = this.count(key, tenantId).finally(() => this.underWay.delete(key));
    this.underWay.set(key, count);
    return count;
  }

  private async count(key: string, tenantId: string | undefined): Promise<StatusCounts> {
    const at = this.clock.now().getTime();
    const [where, values] = tenantId === undefined ? ['', []] : [' WHERE tenant_id = ?', [tenantId]];
    const found = await this.database.rows<{ status: number; n: number }>(
      `SELECT status, COUNT(*) AS n FROM users${where} GROUP BY status`,
      values,
    );
    const of = new Map(found.map(({ status, n }) => [Number(status), Number(n)]));
    const counts = { of, rows: [...of.values()].reduce((sum, n) => sum + n, 0), at };
    this.kept.set(key, counts, at, longestKeptMs);
    return counts;
  }
}
