import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { identityKey } from '../shared/identity-key';
import { AppConfig } from '../platform/config/app-config';
import { Database } from '../platform/database/database';
import { type SqlValue, timeOf, timeOrNull } from '../platform/database/sql';
import type { MfaType, Provider } from './user.entity';
import { notLocked } from './users.repository';

export interface UserFilter {
  /** A prefix of the login name, the e-mail address or the nickname. */
  readonly query?: string;
  readonly status?: number;
  readonly tenantId?: string;
  /** The tenant whose users the caller can reach, if not all. */
  readonly within?: string;
  readonly provider?: Provider;
  readonly locked?: boolean;
}

export interface ListedUser {
  readonly uid: string;
  readonly loginName: string;
  readonly email: string | null;
  readonly nickname: string | null;
  readonly status: number;
  readonly provider: Provider;
  readonly isAdmin: boolean;
  readonly mfaType: MfaType;
  readonly tenantId: string;
  readonly orgUnitId: string | null;
  /** Locked now after failed logins. */
  readonly locked: boolean;
  readonly createdAt: Date;
  readonly lastLoginAt: Date | null;
}

export interface UserPage {
  readonly items: readonly ListedUser[];
  /** The cursor of the next page, or null after the last page. */
  readonly next: string | null;
}

/** Rows of one statement: a few milliseconds of work and a few hundred kilobytes. */
export const pageRows = 1000;

type Row = Omit<ListedUser, 'isAdmin' | 'locked' | 'createdAt' | 'lastLoginAt'> &
  Record<'isAdmin' | 'notLocked' | 'createdAt' | 'lastLoginAt', unknown> & { readonly pageKey: string };

/** Lists accounts in the order of their login names, page by page: memory holds one page at most. */
@Injectable()
export class UserListing {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** Reads a page when the consumer asks for it, so that a slow consumer slows down the reading. */
  async *pages(filter: UserFilter, limit = Number.POSITIVE_INFINITY): AsyncGenerator<readonly ListedUser[]> {
    let after: string | null = '';
    for (let left = limit; left > 0 && after !== null;) {
      const page: UserPage = await this.page(filter, { limit: Math.min(left, pageRows), after });
      if (page.items.length > 0) yield page.items;
      left -= page.items.length;
      after = page.next;
    }
  }

  /** Continues after the last key: an account that is created or removed meanwhile does not shift the others. */
  async page(filter: UserFilter, { limit, after }: { limit: number; after: string }): Promise<UserPage> {
    const { conditions, values } = this.where(filter);
    const lock = this.lockBounds();
    const rows = await this.database.rows<Row>(
      `SELECT uid, login_name AS loginName, email, nickname, status, provider, is_admin AS isAdmin, mfa_type AS mfaType,
              tenant_id AS tenantId, org_unit_id AS orgUnitId, created_at AS createdAt,
              last_login_success_time AS lastLoginAt, ${notLocked} AS notLocked, login_name_key AS pageKey
       FROM users
       WHERE ${['login_name_key > ?', ...conditions].join(' AND ')} ORDER BY login_name_key LIMIT ${Number(limit) + 1}`,
      [...lock, after, ...values],
    );
    const items = rows.slice(0, limit);
    return {
      items: items.map(listedUser),
      next: rows.length > limit ? (items.at(-1)?.pageKey ?? null) : null,
    };
  }

  private lockBounds(): [number, Date] {
    return [this.config.lock.maxCount, this.clock.secondsFromNow(-this.config.lock.windowSeconds)];
  }

  private where({ query, status, tenantId, within, provider, locked }: UserFilter) {
    const conditions: string[] = [];
    const values: SqlValue[] = [];
    const add = (condition: string, ...bound: SqlValue[]) => {
      conditions.push(condition);
      values.push(...bound);
    };
    if (query !== undefined) {
      const [key, typed] = [prefix(identityKey(query)), prefix(query)];
      // LOWER of SQLite changes only ASCII letters, so the nickname is also compared as it was typed.
      const nickname = `LOWER(nickname) LIKE ? ESCAPE '!' OR nickname LIKE ? ESCAPE '!'`;
      add(
        `(login_name_key LIKE ? ESCAPE '!' OR email_key LIKE ? ESCAPE '!' OR ${nickname})`,
        key,
        key,
        typed.toLowerCase(),
        typed,
      );
    }
    if (status !== undefined) add('status = ?', status);
    if (tenantId !== undefined) add('tenant_id = ?', tenantId);
    if (within !== undefined) add('tenant_id = ?', within);
    if (provider !== undefined) add('provider = ?', provider);
    if (locked !== undefined) add(locked ? `NOT (${notLocked})` : notLocked, ...this.lockBounds());
    return { conditions, values };
  }
}

function listedUser({ uid, loginName, email, nickname, status, provider, mfaType, tenantId, orgUnitId, ...row }: Row) {
  return {
    ...{ uid, loginName, email, nickname, status, provider, mfaType, tenantId, orgUnitId },
    isAdmin: Number(row.isAdmin) === 1,
    locked: Number(row.notLocked) !== 1,
    createdAt: timeOf(row.createdAt),
    lastLoginAt: timeOrNull(row.lastLoginAt),
  };
}

/** A LIKE pattern for texts that begin with this one. Wildcards in the text are escaped. */
function prefix(text: string): string {
  return `${text.replace(/[!%_]/g, '!$&')}%`;
}
