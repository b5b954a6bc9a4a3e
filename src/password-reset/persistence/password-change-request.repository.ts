import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThanOrEqual, type Repository } from 'typeorm';
import type { RequestType } from '../../shared/change-type';
import { Clock } from '../../shared/clock';
import { isUuid } from '../../shared/uuid';
import { sha256Hex } from '../../platform/crypto/key-ring';
import type { Gated } from '../../platform/database/cooldown.repository';
import { Database, type Transaction } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import type { Sql } from '../../platform/database/sql';
import { UsersRepository } from '../../users/users.repository';
import { PasswordChangeRequest, requestStatus } from './password-change-request.entity';

/** A request that was found by the token of its link. */
export interface FoundRequest {
  readonly uid: string;
  readonly userId: string;
  /** The login name of the user, for the holder of the link. */
  readonly loginName: string;
  readonly type: RequestType;
  /** False when the request was used or superseded, or when the user's credentials have changed since (ADR 0005). */
  readonly open: boolean;
  readonly credentialVersion: number;
  readonly expired: Date;
  readonly createdAt: Date;
}

const pending = { status: requestStatus.pending };
const used = { status: requestStatus.used };

/**
 * The table `user_change_password_request`. A link is found by the hash of its token (docs/spec/attacks.md#w27).
 * Each writing transaction holds the gate row of the user, so that these transactions run one after the other.
 */
@Injectable()
export class PasswordChangeRequestRepository {
  private readonly rows: EntityRows<PasswordChangeRequest>;

  constructor(
    @InjectRepository(PasswordChangeRequest) rows: Repository<PasswordChangeRequest>,
    database: Database,
    private readonly users: UsersRepository,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** Returns undefined for an unknown token, and for a token of a deleted user or a directory user. */
  async findByToken(sql: Sql, token: string): Promise<FoundRequest | undefined> {
    if (!isUuid(token)) return undefined;
    const row = await this.rows.findOne({ tokenHash: sha256Hex(token) }, sql);
    if (row === null) return undefined;
    const owner = await this.users.passwordOwner(sql, row.userId);
    if (owner === undefined) return undefined;
    const { uid, userId, type, credentialVersion, expired, createdAt } = row;
    const open = row.status === requestStatus.pending && credentialVersion === owner.credentialVersion;
    return { uid, userId, loginName: owner.loginName, type, open, credentialVersion, expired, createdAt };
  }

  async insert(tx: Gated<'reset'>, request: PasswordChangeRequest): Promise<void> {
    await this.rows.insert(tx, request);
  }

  /** Ends older pending requests of the same type. */
  async supersede(tx: Gated<'reset'>, userId: string, type: RequestType): Promise<void> {
    await this.rows.update(tx, { userId, type, ...pending }, used);
  }

  /**
   * Parallel submissions of one link, and a newer request that supersedes it, compete for the row. Exactly one UPDATE
   * finds the request pending and not expired. The others match no row. Their callers read the request again and answer
   * AUTH_401007 or AUTH_401005.
   */
  consume(tx: Gated<'reset'>, uid: string): Promise<boolean> {
    return this.rows.won(tx, { uid, expired: MoreThanOrEqual(this.clock.now()), ...pending }, used);
  }

  /** Ends all pending requests of the user, of every type. */
  closeAll(tx: Gated<'reset'>, userId: string): Promise<number> {
    return this.rows.update(tx, { userId, ...pending }, used);
  }

  /** Removes all requests of the user, of every type and status. */
  async removeAll(tx: Transaction, userId: string): Promise<void> {
    await this.rows.remove(tx, { userId });
  }
}
