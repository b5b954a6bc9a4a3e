import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, type Repository } from 'typeorm';
import { sha256Hex } from '../platform/crypto/key-ring';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { Clock } from '../shared/clock';
import { ExternalIdentity } from './persistence/external-identity.entity';

/** The table `external_identities`: the pair of provider and `sub` is the only thing that leads into an account. */
@Injectable()
export class ExternalIdentities {
  private readonly rows: EntityRows<ExternalIdentity>;

  constructor(
    @InjectRepository(ExternalIdentity) rows: Repository<ExternalIdentity>,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  find(identityProviderId: string, subject: string, sql: Sql = this.database): Promise<ExternalIdentity | null> {
    return this.rows.findOne({ identityProviderId, subjectHash: sha256Hex(subject) }, sql);
  }

  ofUser(userId: string): Promise<ExternalIdentity | null> {
    return this.rows.findOne({ userId });
  }

  /**
   * Races: two first sign-ins of one `sub`, or two subjects that would be the same user. The pair is the primary key and the
   * user a unique key, so the first INSERT wins. The other caller gets false, and reads whom the pair names now.
   */
  bind(sql: Sql, identityProviderId: string, subject: string, userId: string): Promise<boolean> {
    const now = this.clock.now();
    const subjectHash = sha256Hex(subject);
    return this.rows.added(sql, { identityProviderId, subjectHash, subject, userId, boundAt: now, lastUsedAt: now });
  }

  /**
   * The provider has told that the user has signed out there. Races with the redemption of a sign-in, on any replica
   * (`use`): both write this row in the transaction that ends or opens sessions. If the redemption commits first, this
   * waits, and the caller finds its session. If this commits first, the redemption opens none.
   */
  async signOut(tx: Transaction, identityProviderId: string, userId: string): Promise<void> {
    await this.rows.update(tx, { identityProviderId, userId }, { signedOutAt: this.clock.now() });
  }

  /**
   * The person has signed in. Races with `signOut`, which wins if it commits first.
   * @param vouchedAt when the provider answered
   * @returns false when the person has signed out at the provider since then, or is bound no more
   */
  async use(tx: Transaction, identityProviderId: string, subject: string, vouchedAt: Date): Promise<boolean> {
    const row = { identityProviderId, subjectHash: sha256Hex(subject) };
    const change = { lastUsedAt: this.clock.now() };
    return (
      (await this.rows.won(tx, { ...row, signedOutAt: IsNull() }, change)) ||
      (await this.rows.won(tx, { ...row, signedOutAt: LessThan(vouchedAt) }, change))
    );
  }

  /** The user signs in elsewhere from now on, or is deleted. */
  async removeOf(sql: Sql, userId: string): Promise<void> {
    await this.rows.remove(sql, { userId });
  }
}
