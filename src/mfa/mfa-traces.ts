import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import type { OldAddresses } from '../platform/database/old-addresses';
import type { ToldTable } from '../platform/database/told-rows';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import { RecoveryCodeRows } from './persistence/recovery-code.repository';
import { TotpSecrets } from './persistence/totp-secret.repository';

/** Erases the traces of a deleted user in the tables of this module. */
@Injectable()
export class MfaTraces implements UserTrace {
  readonly tables = ['totp_secrets', 'recovery_codes'];
  readonly told: readonly ToldTable[] = [
    {
      table: 'totp_secrets',
      section: 'authenticator',
      user: 'user_id',
      order: ['user_id'],
      columns: {
        ...{ confirmed_at: 'time', sid: 'value', ip: 'value', expires: 'time', fetched: 'number', attempts: 'number' },
        ...{ secret: 'withheld', uri: 'withheld', last_used_step: 'internal' },
      },
    },
    {
      table: 'recovery_codes',
      user: 'user_id',
      order: ['id'],
      columns: {
        ...{ id: 'value', created_at: 'time', used_at: 'time', code_hash: 'withheld', key_id: 'internal' },
      },
    },
  ];

  constructor(
    traces: UserTraces,
    private readonly secrets: TotpSecrets,
    private readonly codes: RecoveryCodeRows,
  ) {
    traces.register(this);
  }

  /** An enrolment that nobody has confirmed, and the codes that work once. The authenticator stays with the password. */
  async leave(tx: Transaction, uid: string) {
    return {
      enrolments: await this.secrets.endOpen(tx, uid),
      recovery_codes: await this.codes.removeAll(tx, uid),
    };
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    await this.secrets.removeAll(tx, uid);
    await this.codes.removeAll(tx, uid);
  }
}

/** Where an authenticator was enrolled. */
export const enrolmentAddresses: OldAddresses = {
  ...{ table: 'totp_secrets', key: 'user_id', seen: 'COALESCE(confirmed_at, expires)' },
  by: { kind: 'key' },
};
