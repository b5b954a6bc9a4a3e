import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { Random } from '../shared/random';
import { AppConfig } from '../platform/config/app-config';
import { sha256Hex } from '../platform/crypto/key-ring';
import { Cooldowns } from '../platform/database/cooldowns';
import type { Transaction } from '../platform/database/database';
import type { User } from '../users/user.entity';
import {
  type PasswordChangeRequest,
  type RequestType,
  requestStatus,
} from './persistence/password-change-request.entity';
import { PasswordChangeRequestRepository } from './persistence/password-change-request.repository';

export interface OpenedRequest {
  readonly request: PasswordChangeRequest;
  /** The token in the link. Only its hash is stored. */
  readonly token: string;
}

/** Opens password change requests. A new one supersedes the pending ones of its type (docs/spec/service.md#3.2). */
@Injectable()
export class PasswordChangeRequests {
  constructor(
    private readonly requests: PasswordChangeRequestRepository,
    private readonly cooldowns: Cooldowns,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly config: AppConfig,
  ) {}

  /**
   * For a login that has just proved the password; the answer carries the token in `change_uid`. The request stores the
   * credential version of that login, so a parallel password change invalidates the token.
   */
  async openForced(user: User, type: 0 | 3): Promise<string> {
    const { token } = await this.cooldowns.serialise({ kind: 'reset', subject: user.uid }, (tx) =>
      this.openIn(tx, user, type, this.config.reset.ttlSeconds),
    );
    return token;
  }

  /** The transaction must hold the user's gate row: otherwise two parallel requests could both stay pending. */
  async openIn(
    tx: Transaction,
    owner: Pick<User, 'uid' | 'credentialVersion'>,
    type: RequestType,
    ttlSeconds: number,
  ): Promise<OpenedRequest> {
    await this.requests.supersede(tx, owner.uid, type);
    const token = this.random.uuid();
    const createdAt = this.clock.now();
    const request: PasswordChangeRequest = {
      // The literal contract answers the token as `uid`. The default only names the request
      // (docs/spec/decisions.md#reset-uid).
      uid: this.config.reset.responseUid === 'token' ? token : this.random.uuid(),
      tokenHash: sha256Hex(token),
      userId: owner.uid,
      type,
      status: requestStatus.pending,
      credentialVersion: owner.credentialVersion,
      expired: new Date(createdAt.getTime() + ttlSeconds * 1000),
      createdAt,
    };
    await this.requests.insert(tx, request);
    return { request, token };
  }
}
