import { Injectable } from '@nestjs/common';
import { changeType, type ForcedChangeType, type RequestType } from '../shared/change-type';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { resetRequestExpired, resetRequestUsed, resetTokenUnknown } from '../shared/errors/error-catalogue';
import { Random } from '../shared/random';
import { ResetSettings } from './reset-settings';
import { sha256Hex } from '../platform/crypto/key-ring';
import { Cooldowns, type Gated } from '../platform/database/cooldown.repository';
import { Database } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import type { User } from '../users/user.entity';
import { type PasswordChangeRequest, requestStatus } from './persistence/password-change-request.entity';
import { type FoundRequest, PasswordChangeRequestRepository } from './persistence/password-change-request.repository';

export interface OpenedRequest {
  readonly request: PasswordChangeRequest;
  /** The token in the link. Only its hash is stored. */
  readonly token: string;
}

/** Opens password change requests, finds them by the token of the link, uses each once (docs/spec/service.md#3.2). */
@Injectable()
export class PasswordChangeRequests {
  constructor(
    private readonly database: Database,
    private readonly rows: PasswordChangeRequestRepository,
    private readonly cooldowns: Cooldowns,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly settings: ResetSettings,
  ) {}

  /**
   * Opens a request for a login whose password was right. `/login` returns the token as `change_uid`. The request
   * stores the credential version of that login, so a parallel password change invalidates the token.
   */
  async openForced(user: User, type: ForcedChangeType): Promise<string> {
    const { token } = await this.cooldowns.serialise({ kind: 'reset', subject: user.uid }, (tx) =>
      this.open(tx, user, type, this.settings.ttlSeconds),
    );
    return token;
  }

  /**
   * Opens a request, which supersedes the pending requests of its type. The transaction must hold the gate row of the
   * owner: otherwise two parallel requests could both stay pending.
   */
  async open(
    tx: Gated<'reset'>,
    owner: Pick<User, 'uid' | 'credentialVersion'>,
    type: RequestType,
    ttlSeconds: number,
  ): Promise<OpenedRequest> {
    await this.rows.supersede(tx, owner.uid, type);
    const token = this.random.uuid();
    const createdAt = this.clock.now();
    const request: PasswordChangeRequest = {
      // With RESET_RESPONSE_UID=token, the `uid` is the token. By default it only identifies the request
      // (docs/spec/decisions.md#reset-uid).
      uid: this.settings.responseUid === 'token' ? token : this.random.uuid(),
      tokenHash: sha256Hex(token),
      userId: owner.uid,
      type,
      status: requestStatus.pending,
      credentialVersion: owner.credentialVersion,
      expired: new Date(createdAt.getTime() + ttlSeconds * 1000),
      createdAt,
    };
    await this.rows.insert(tx, request);
    return { request, token };
  }

  /**
   * Finds the usable request of a link. The method only reads, because mail scanners also open links
   * (docs/spec/attacks.md#w28).
   * @param sql the current transaction, when the read must see its changes
   * @throws DomainError AUTH_401003 for an unknown or malformed token, AUTH_401007 for a used request (also an expired
   *   one), AUTH_401005 for an expired request
   */
  async find(token: string, sql: Sql = this.database): Promise<FoundRequest> {
    const request = await this.rows.findByToken(sql, token);
    if (request === undefined) throw new DomainError(resetTokenUnknown);
    if (!request.open) throw new DomainError(resetRequestUsed);
    if (request.expired < this.clock.now()) throw new DomainError(resetRequestExpired);
    return request;
  }

  /**
   * Whether the link came by mail. A link that a login answers did not. It comes after the right password, and that may be one that only
   * the old system knows. Without a password the link is an invitation, unless a change is demanded. With `RESET_RESPONSE_UID=token`,
   * the answer of `/forget-password` has the token, so the link proves nothing.
   */
  wasMailed(
    type: RequestType,
    { password, mustChangePassword }: Pick<User, 'password' | 'mustChangePassword'>,
  ): boolean {
    const isInvitation = type === changeType.first && password === null && !mustChangePassword;
    return (type === changeType.forgotten || isInvitation) && this.settings.responseUid !== 'token';
  }

  /**
   * Marks the request as used, and closes all other requests of the user.
   * @returns false, without a change, when the request was already used, superseded or expired
   */
  async use(tx: Gated<'reset'>, { uid, userId }: FoundRequest): Promise<boolean> {
    if (!(await this.rows.consume(tx, uid))) return false;
    await this.closeAll(tx, userId);
    return true;
  }

  /** Closes all pending requests of the user: no link works after a change of the password. */
  async closeAll(tx: Gated<'reset'>, userId: string): Promise<void> {
    await this.rows.closeAll(tx, userId);
  }
}
