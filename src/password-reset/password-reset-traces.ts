import { Injectable } from '@nestjs/common';
import type { Gated } from '../platform/database/cooldown.repository';
import type { Transaction } from '../platform/database/database';
import { day, type OldRows } from '../platform/database/old-rows';
import type { ToldTable } from '../platform/database/told-rows';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import { WarningClaims } from './persistence/expiry-warning.repository';
import { requestStatus } from './persistence/password-change-request.entity';
import { PasswordChangeRequestRepository } from './persistence/password-change-request.repository';

export const oldChangeRequests: OldRows = {
  table: 'user_change_password_request',
  key: 'uid',
  time: 'expired',
  seconds: 7 * day,
};

/** Erases the traces of a deleted user in the tables of this module. */
@Injectable()
export class PasswordResetTraces implements UserTrace {
  readonly tables = ['user_change_password_request', 'password_expiry_warnings'];
  readonly told: readonly ToldTable[] = [
    {
      table: 'user_change_password_request',
      section: 'password_links',
      user: 'user_id',
      order: ['uid'],
      names: { uid: 'id', expired: 'expires' },
      columns: {
        ...{ uid: 'value', type: 'number', created_at: 'time', expired: 'time' },
        status: { [requestStatus.pending]: 'pending', [requestStatus.used]: 'used' },
        ...{ token_hash: 'withheld', credential_version: 'internal' },
      },
    },
    {
      table: 'password_expiry_warnings',
      user: 'user_id',
      order: ['user_id'],
      columns: { days: 'number', warned_at: 'time', password_id: 'internal' },
    },
  ];

  constructor(
    traces: UserTraces,
    private readonly requests: PasswordChangeRequestRepository,
    private readonly warnings: WarningClaims,
  ) {
    traces.register(this);
  }

  async leave(tx: Gated<'reset'>, uid: string) {
    return { links: await this.requests.closeAll(tx, uid) };
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    await this.requests.removeAll(tx, uid);
    await this.warnings.removeAll(tx, uid);
  }
}
