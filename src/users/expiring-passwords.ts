import { Injectable } from '@nestjs/common';
import { LockSettings } from './account-settings';
import { Database } from '../platform/database/database';
import { timeOf } from '../platform/database/sql';
import { Clock } from '../shared/clock';
import { userStatus } from './user.entity';
import { dormancyBounds, notDormant } from './users.repository';

/** `history`: passwords with a row in `user_change_pwd_logs`. `accounts`: the others count from the creation. */
export type PasswordSource = 'history' | 'accounts';

/** A place in the order of the times and, among equal times, of the ids. */
export interface Position {
  readonly at: Date;
  readonly id: string | number;
}

export interface ExpiringPassword {
  /** The place of this password, also when its owner gets no warning. */
  readonly position: Position;
  /** Undefined for an owner who gets no warning, and for a password that is not the newest of its owner. */
  readonly owner?: {
    readonly uid: string;
    readonly loginName: string;
    readonly email: string;
    /** The language of the owner. If it is unknown, the one in which the password was chosen. */
    readonly language: string | null;
    readonly credentialVersion: number;
  };
}

interface Row {
  readonly id: string | number;
  readonly set_at: unknown;
  readonly language: string | null;
  readonly uid: string | null;
  readonly login_name: string;
  readonly email: string;
  readonly credential_version: number;
}

/** Each part reads one index from a position on. The id is the second column of the index. */
const parts: Readonly<Record<PasswordSource, { table: string; key: string; columns: string; newest: string }>> = {
  history: {
    table: 'user_change_pwd_logs',
    key: 'id',
    columns: 'id, user_id, language',
    newest: 'NOT EXISTS (SELECT 1 FROM user_change_pwd_logs n WHERE n.user_id = p.user_id AND n.id > p.id)',
  },
  accounts: {
    table: 'users',
    key: 'uid',
    columns: 'uid AS id, uid AS user_id, NULL AS language',
    newest: 'NOT EXISTS (SELECT 1 FROM user_change_pwd_logs n WHERE n.user_id = p.user_id)',
  },
};

/** Reads passwords in the order in which they were set, to warn their owners before they expire. */
@Injectable()
export class ExpiringPasswords {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly settings: LockSettings,
  ) {}

  /**
   * Reads the passwords that were set after a position and until a time, the oldest first. The inner query is bounded,
   * so the work does not grow with the number of owners who get no warning.
   */
  async after(source: PasswordSource, { at, id }: Position, until: Date, limit: number): Promise<ExpiringPassword[]> {
    const { table, key, columns, newest } = parts[source];
    const rows = await this.database.rows<Row>(
      `SELECT p.id, p.set_at, COALESCE(u.language, p.language) AS language, u.uid, u.login_name, u.email, u.credential_version
       FROM (SELECT ${columns}, created_at AS set_at FROM ${table}
             WHERE created_at >= ? AND created_at <= ? AND (created_at > ? OR (created_at = ? AND ${key} > ?))
             ORDER BY created_at, ${key} LIMIT ${Math.trunc(limit)}) p
       LEFT JOIN users u ON u.uid = p.user_id AND u.status = ${userStatus.enabled} AND u.provider = 'password'
         AND u.password IS NOT NULL AND u.must_change_password = 0 AND u.email IS NOT NULL AND ${notDormant} AND ${newest}
       ORDER BY p.set_at, p.id`,
      [at, until, at, at, id, ...dormancyBounds(this.settings, this.clock)],
    );
    return rows.map((row) => expiringPassword(source, row));
  }
}

function expiringPassword(source: PasswordSource, row: Row): ExpiringPassword {
  // The driver of MySQL returns a BIGINT as text.
  const position = { at: timeOf(row.set_at), id: source === 'history' ? Number(row.id) : row.id };
  if (row.uid === null) return { position };
  const { uid, login_name: loginName, email, language, credential_version: credentialVersion } = row;
  return { position, owner: { uid, loginName, email, language, credentialVersion } };
}
