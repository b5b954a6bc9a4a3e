import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThanOrEqual, type Repository } from 'typeorm';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { Clock } from '../shared/clock';
import { IdentityProvider } from './identity-provider.entity';
import { providerIdForm } from './identity-providers.repository';

/** The writes of the table `identity_providers`. */
@Injectable()
export class IdentityProviderChanges {
  private readonly rows: EntityRows<IdentityProvider>;

  constructor(
    @InjectRepository(IdentityProvider) rows: Repository<IdentityProvider>,
    database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * Locks the row until the transaction ends (ADR 0029), and reads it.
   * Races: whoever gives a user to the provider (a first sign-in, a creation, another kind of sign-in), and whoever deletes
   * the provider or changes its issuer, on any replica. Each of them holds the row first, so they run one after the other.
   * If the deletion commits first, this UPDATE matches no row, and the user is not given to a provider that is gone. If the
   * user commits first, the deletion counts that user.
   * @returns null when there is no such provider (any more)
   */
  async hold(tx: Transaction, id: string): Promise<IdentityProvider | null> {
    if (!providerIdForm.test(id) || !(await this.rows.won(tx, { id }, this.rows.incremented('held')))) return null;
    return this.rows.findOne({ id }, tx);
  }

  /** Of a transaction: as its own statements left the rows. */
  list(tx: Transaction): Promise<IdentityProvider[]> {
    return this.rows.find({ held: MoreThanOrEqual(0) }, {}, tx);
  }

  /**
   * Race: two creations with one id. The primary key decides.
   * @returns false when there is a provider with this id
   */
  insert(tx: Transaction, provider: Omit<IdentityProvider, 'createdAt' | 'changedAt' | 'held'>): Promise<boolean> {
    const now = this.clock.now();
    return this.rows.added(tx, { ...provider, createdAt: now, changedAt: now });
  }

  /**
   * Sets the given columns, and no others. The transaction holds the row, so there is one.
   * Race: of two changes of one field the later one lasts.
   */
  async change(tx: Transaction, id: string, change: Partial<IdentityProvider>): Promise<void> {
    await this.rows.won(tx, { id }, { ...change, changedAt: this.clock.now() });
  }

  /** The transaction holds the row, and has counted its users. */
  async remove(tx: Transaction, id: string): Promise<void> {
    await this.rows.remove(tx, { id });
  }
}
