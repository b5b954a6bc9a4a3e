import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { IdentityProvider } from './identity-provider.entity';

export const providerIdForm = /^[a-z0-9-]{1,40}$/;

/** The table `identity_providers`. Nothing is cached, so a change counts at once, on every replica. */
@Injectable()
export class IdentityProviders {
  private readonly rows: EntityRows<IdentityProvider>;

  constructor(@InjectRepository(IdentityProvider) rows: Repository<IdentityProvider>, database: Database) {
    this.rows = new EntityRows(rows, database);
  }

  /** MySQL ignores spaces at the end of a text that it compares, so only exact identifiers reach it. */
  find(id: string, sql?: Sql): Promise<IdentityProvider | null> {
    return providerIdForm.test(id) ? this.rows.findOne({ id }, sql) : Promise.resolve(null);
  }

  /** In the order of their ids. There are a few. */
  list(): Promise<IdentityProvider[]> {
    return this.rows.find({ id: MoreThan('') }, { order: { id: 'ASC' } });
  }
}
