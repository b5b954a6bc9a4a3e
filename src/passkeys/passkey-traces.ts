import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import { hour, type OldRows } from '../platform/database/old-rows';
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
