import { Injectable } from '@nestjs/common';
import type { RequestType } from '../../shared/change-type';
import { Clock } from '../../shared/clock';
import { isUuid } from '../../shared/uuid';
import { sha256Hex } from '../../platform/crypto/key-ring';
import type { Gated } from '../../platform/database/cooldowns';
import { type Sql, timeOf } from '../../platform/database/sql';
import { UsersRepository } from '../../users/users.repository';
import { type PasswordChangeRequest, requestStatus } from './password-change-request.entity';

/** A request that was found by the token of its link. */
export interface FoundRequest {
  readonly uid: string;
  readonly userId: string;
  readonly type: RequestType;
  /** False when the request was used or superseded, or when the user's credentials have changed since (ADR 0005). */
  readonly open: boolean;
  readonly credentialVersion: number;
  readonly expired: Date;
  readonly createdAt: Date;
}

interface Row {
  uid: string;
  user_id: string;
  type: RequestType;
  status: number;
  credential_version: number;
  expired: unknown;
  created_at: unknown;
}

/**
 * The table `user_change_password_request`. A link is found by the hash of its token (docs/spec/attacks.md#w27).
 * Each writing transaction holds the gate row of the user, so that these transactions run one after the other.
 */
@Injectable()
export class PasswordChangeRequestRepository {
  constructor(
    private readonly users: UsersRepository,
    private readonly clock: Clock,
  ) {}

  /** Returns undefined for an unknown token, and for a token of a deleted user or a directory user. */
  async findByToken(sql: Sql, token: string): Promise<FoundRequest | undefined> {
    if (!isUuid(token)) return undefined;
    const row = await sql.row<Row>(
      `SELECT uid, user_id, type, status, credential_version, expired, created_at
       FROM user_change_password_request WHERE token_hash = ?`,
      [sha256Hex(token)],
    );
    if (row === undefined) return undefined;
    const version = await this.users.credentialVersion(sql, row.user_id, { provider: 'password' });
    if (version === undefined) return undefined;
    return {
      uid: row.uid,
      userId: row.user_id,
      type: row.type,
      open: row.status === requestStatus.pending && row.credential_version === version,
      credentialVersion: row.credential_version,
      expired: timeOf(row.expired),
      createdAt: timeOf(row.created_at),
    };
  }

  async insert(tx: Gated<'reset'>, request: PasswordChangeRequest): Promise<void> {
    await tx.affected(
      `INSERT INTO user_change_password_request
       (uid, token_hash, user_id, type, status, credential_version, expired, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        request.uid,
        request.tokenHash,
        request.userId,
        request.type,
        request.status,
        request.credentialVersion,
        request.expired,
        request.createdAt,
      ],
    );
  }

  /** Ends older pending requests of the same type. */
  async supersede(tx: Gated<'reset'>, userId: string, type: RequestType): Promise<void> {
    await tx.affected(
      `UPDATE user_change_password_request SET status = ${requestStatus.used}
       WHERE user_id = ? AND type = ? AND status = ${requestStatus.pending}`,
      [userId, type],
    );
  }

  /**
   * Parallel submissions of one link, and a newer request that supersedes it, compete for the row. Exactly one UPDATE
   * finds the request pending and not expired. The others match no row. Their callers read the request again and answer
   * AUTH_401007 or AUTH_401005.
   */
  consume(tx: Gated<'reset'>, uid: string): Promise<boolean> {
    return tx.won(
      `UPDATE user_change_password_request SET status = ${requestStatus.used}
       WHERE uid = ? AND status = ${requestStatus.pending} AND expired >= ?`,
      [uid, this.clock.now()],
    );
  }

  /** Ends all pending requests of the user, of every type. */
  async closeAll(tx: Gated<'reset'>, userId: string): Promise<void> {
    await tx.affected(
      `UPDATE user_change_password_request SET status = ${requestStatus.used}
       WHERE user_id = ? AND status = ${requestStatus.pending}`,
      [userId],
    );
  }
}
