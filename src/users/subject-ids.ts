import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { Cooldowns, type Gated } from '../platform/database/cooldown.repository';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { isUuid } from '../shared/uuid';
import { User } from './user.entity';

/** The gate row of every transaction that gives an id to a client, or a chosen one to a user. `purge` keeps it. */
export const chosenIds = { kind: 'ids', subject: '00000000-0000-0000-0000-000000000000' } as const;

/** An owner of ids that tokens name as `sub`, and audit rows as the actor. */
export interface SubjectOwner {
  /** As a message says it: `a user`. */
  readonly what: string;
  /** @returns those of the ids that the owner's table has */
  readonly held: (ids: readonly string[], sql: Sql) => Promise<readonly string[]>;
}

/**
 * The port by which no user has the id of an application or a service client (docs/spec/extensions.md#ids). Otherwise a token that
 * an application got for itself would be that of the user for whoever reads its `sub` alone (RFC 9700, section 4.15), and the
 * audit would show the user where a client of SCIM has acted. The owners of the clients have a higher rank, so they register.
 *
 * Race: a user with a chosen id, and a client with it, on any replica. Both transactions hold the gate row, so the second one waits
 * for the commit of the first one, finds its row, and is refused.
 */
@Injectable()
export class SubjectIds {
  private readonly owners: SubjectOwner[] = [];

  constructor(
    @InjectRepository(User) users: Repository<User>,
    database: Database,
    private readonly cooldowns: Cooldowns,
  ) {
    const rows = new EntityRows(users, database);
    this.register({
      what: 'a user',
      held: async (ids, sql) => (await rows.find({ uid: In([...ids]) }, {}, sql)).map(({ uid }) => uid),
    });
  }

  /** Called in the constructor of the owner, so its module must be part of each program that gives ids. */
  register(owner: SubjectOwner): void {
    this.owners.push(owner);
  }

  /** Runs the work in a transaction that holds the gate row. */
  serialise<T>(work: (tx: Gated<'ids'>) => Promise<T>): Promise<T> {
    return this.cooldowns.serialise(chosenIds, work);
  }

  /**
   * Which of the ids another owner has, and which one. It decides only in a transaction that holds the gate row.
   * @param own `what` of the owner who asks @param ids at most a few hundred
   */
  async elsewhere(own: string, ids: readonly string[], sql: Sql): Promise<ReadonlyMap<string, string>> {
    // Clients have UUIDs only.
    const possible = ids.filter((id) => isUuid(id));
    const found = new Map<string, string>();
    if (possible.length === 0) return found;
    for (const { what, held } of this.owners.filter((one) => one.what !== own)) {
      for (const id of await held(possible, sql)) found.set(id, what);
    }
    return found;
  }
}
