import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';

/** Erases the traces of a deleted user in the tables of this module. */
@Injectable()
export class MfaTraces implements UserTrace {
  readonly tables = ['totp_secrets', 'recovery_codes'];

  constructor(traces: UserTraces) {
    traces.register(this);
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    await tx.affected('DELETE FROM totp_secrets WHERE user_id = ?', [uid]);
    await tx.affected('DELETE FROM recovery_codes WHERE user_id = ?', [uid]);
  }
}
