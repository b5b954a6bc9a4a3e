import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { identityKey } from '../shared/identity-key';
import type { Sql } from '../platform/database/sql';
import { User } from './user.entity';

/** The users who sign in at identity providers. A deleted user has none. */
@Injectable()
export class UsersOfProviders {
  private readonly rows: EntityRows<User>;

  constructor(
    @InjectRepository(User) rows: Repository<User>,
    private readonly database: Database,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** How many users each provider has, by its id. A provider without users is missing. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.database.rows<{ id: string; n: number }>(
      `SELECT identity_provider_id AS id, COUNT(*) AS n FROM users WHERE identity_provider_id IS NOT NULL
       GROUP BY identity_provider_id`,
    );
    return new Map(rows.map(({ id, n }) => [id, Number(n)]));
  }

  count(identityProviderId: string): Promise<number> {
    return this.rows.count({ identityProviderId });
  }

  /**
   * The provider has vouched for the address of the user.
   * Race: a change of the address beside the sign-in. An address that is another one by now matches no row, and stays unproven.
   */
  vouch(sql: Sql, uid: string, email: string): Promise<boolean> {
    const emailKey = identityKey(email);
    return this.rows.won(sql, { uid, provider: 'oidc', emailKey }, { provenEmailKey: emailKey });
  }

  /** One look-up, however many there are. */
  async any(sql: Sql, identityProviderId: string): Promise<boolean> {
    return (await this.rows.findOne({ identityProviderId }, sql)) !== null;
  }
}
