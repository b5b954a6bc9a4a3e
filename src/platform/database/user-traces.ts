import { Injectable } from '@nestjs/common';
import type { Transaction } from './database';

/** The login name of a deleted user. */
export const tombstoneName = (uid: string): string => `deleted-${uid}`;

/** What the owner of some tables does there when a user is deleted. */
export interface UserTrace {
  /** The tables whose rows of the user are deleted or lose what identifies the user. */
  readonly tables: readonly string[];

  /** Runs in the transaction of the deletion, which holds the row of the user and has ended the sessions. */
  erase?(tx: Transaction, uid: string): Promise<void>;

  /**
   * Erases what is left, in statements that commit alone: after the deletion, and once more by `purge`, when each login
   * that was under way has ended with all rows that it writes. A second call changes nothing.
   */
  settle?(uid: string): Promise<void>;
}

/**
 * The port of an erasure (ADR 0025). Each owner of rows of users registers itself, so that whoever deletes a user knows
 * no table. It is here and not in `users`, because owners of the rank of `users` register as well.
 */
@Injectable()
export class UserTraces {
  private readonly owners: UserTrace[] = [];

  /** Called in the constructor of the owner, so the module of each owner must be part of the program that erases. */
  register(owner: UserTrace): void {
    this.owners.push(owner);
  }

  get tables(): string[] {
    return this.owners.flatMap(({ tables }) => tables).sort();
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    for (const owner of this.owners) await owner.erase?.(tx, uid);
  }

  async settle(uid: string): Promise<void> {
    for (const owner of this.owners) await owner.settle?.(uid);
  }
}
