import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import { hour, type OldRows } from '../platform/database/old-rows';
import type { ToldTable } from '../platform/database/told-rows';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import { PasskeyRows } from './persistence/passkey.repository';

/** Used challenges. A challenge expires with its row. */
export const oldChallenges: OldRows = {
  table: 'passkey_challenges',
  key: 'challenge_hash',
  time: 'expires',
  seconds: hour,
};

/** Erases the traces of a deleted user in the tables of this module. */
@Injectable()
export class PasskeyTraces implements UserTrace {
  readonly tables = ['passkeys'];
  readonly told: readonly ToldTable[] = [
    {
      table: 'passkeys',
      user: 'user_id',
      order: ['id'],
      columns: {
        ...{ id: 'value', name: 'value', created_at: 'time', last_used_at: 'time', transports: 'value' },
        ...{ backup_eligible: 'flag', backed_up: 'flag', counter: 'number' },
        ...{ credential_hash: 'withheld', credential_id: 'withheld', public_key: 'withheld' },
      },
    },
  ];

  constructor(
    traces: UserTraces,
    private readonly passkeys: PasskeyRows,
  ) {
    traces.register(this);
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    await this.passkeys.removeAll(tx, uid);
  }
}
