import { Injectable } from '@nestjs/common';
import type { Gated } from './cooldown.repository';
import type { Transaction } from './database';
import type { ToldTable } from './told-rows';

/** The login name of a deleted user. */
export const tombstoneName = (uid: string): string => `deleted-${uid}`;

/** When a mail or a code was last sent to the user. Rows of other subjects are keyed hashes. */
const toldCooldowns: ToldTable = {
  table: 'cooldowns',
  section: 'waiting_times',
  user: 'subject',
  order: ['kind'],
  columns: { kind: 'value', until: 'time', held: 'internal' },
};

/** What the owner of some tables does there when a user is deleted, leaves, or asks for the own data. */
export interface UserTrace {
  /** The tables whose rows of the user are deleted or lose what identifies the user. */
  readonly tables: readonly string[];

  /** What the export of a user tells of the owner's tables, also of those that are kept after a deletion. */
  readonly told?: readonly ToldTable[];

  /** Runs in the transaction of the deletion, which holds the row of the user and has ended the sessions. */
  erase?(tx: Transaction, uid: string): Promise<void>;

  /**
   * Runs in the transaction of an off-boarding, which holds the row of the user and has ended the sessions. It ends what
   * the disabled account has left: links, codes, grants. @returns how many of each it has ended
   */
  leave?(tx: Gated<'reset'>, uid: string): Promise<Readonly<Record<string, number>>>;

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
  private readonly owners: UserTrace[] = [{ tables: [], told: [toldCooldowns] }];

  /** Called in the constructor of the owner, so the module of each owner must be part of the program that erases. */
  register(owner: UserTrace): void {
    this.owners.push(owner);
  }

  get tables(): string[] {
    return this.owners.flatMap(({ tables }) => tables).sort();
  }

  /** In the order of their sections, so that two exports can be compared. */
  get told(): ToldTable[] {
    const section = (one: ToldTable) => one.section ?? one.table;
    return this.owners.flatMap(({ told = [] }) => told).sort((a, b) => (section(a) < section(b) ? -1 : 1));
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    for (const owner of this.owners) await owner.erase?.(tx, uid);
  }

  /** The steps of an off-boarding, one after the other. */
  async *leave(tx: Gated<'reset'>, uid: string): AsyncGenerator<readonly [step: string, ended: number]> {
    for (const owner of this.owners) yield* Object.entries((await owner.leave?.(tx, uid)) ?? {});
  }

  async settle(uid: string): Promise<void> {
    for (const owner of this.owners) await owner.settle?.(uid);
  }
}
