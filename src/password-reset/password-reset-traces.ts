import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import { day, type OldRows } from '../platform/database/old-rows';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import { WarningClaims } from './persistence/expiry-warning.repository';
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

  constructor(
    traces: UserTraces,
    private readonly requests: PasswordChangeRequestRepository,
    private readonly warnings: WarningClaims,
  ) {
    traces.register(this);
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    await this.requests.removeAll(tx, uid);
    await this.warnings.removeAll(tx, uid);
  }
}
