import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import { RecoveryCodeRows } from './persistence/recovery-code.repository';
import { TotpSecrets } from './persistence/totp-secret.repository';

/** Erases the traces of a deleted user in the tables of this module. */
@Injectable()
export class MfaTraces implements UserTrace {
  readonly tables = ['totp_secrets', 'recovery_codes'];

  constructor(
    traces: UserTraces,
    private readonly secrets: TotpSecrets,
    private readonly codes: RecoveryCodeRows,
  ) {
    traces.register(this);
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    await this.secrets.removeAll(tx, uid);
    await this.codes.removeAll(tx, uid);
  }
}
