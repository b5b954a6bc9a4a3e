import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThanOrEqual, Or, type Repository } from 'typeorm';
import { Database, type Transaction } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { Clock } from '../shared/clock';
import { isUuid } from '../shared/uuid';
import { Application } from './application.entity';
import { ApplicationSessions } from './application-sessions.repository';
import { OidcRecords } from './persistence/oidc-record.repository';

/** A new secret, as it is stored, and how long the former one is kept beside it. */
export interface SecretChange {
  readonly secretHash: string;
  /** Null: the former secret ends now. */
  readonly keepUntil: Date | null;
}

/** The writes of the table `applications`. */
@Injectable()
export class ApplicationChanges {
  private readonly rows: EntityRows<Application>;

  constructor(
    @InjectRepository(Application) rows: Repository<Application>,
    database: Database,
    private readonly clock: Clock,
    private readonly records: OidcRecords,
    private readonly sessions: ApplicationSessions,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /** In a transaction: as its own statements left the row. */
  read(tx: Transaction, id: string): Promise<Application | null> {
    return isUuid(id) ? this.rows.findOne({ id }, tx) : Promise.resolve(null);
  }

  /** @param application all columns but the times */
  async insert(tx: Transaction, application: Omit<Application, 'createdAt' | 'changedAt'>): Promise<void> {
    const now = this.clock.now();
    await this.rows.insert(tx, { ...application, createdAt: now, changedAt: now });
  }

  /**
   * An operator can choose the id of a deleted application (ADR 0045). What its users had allowed to that one, and its tokens, would
   * come alive again, so they end here. It would also be told of the ends of sessions that had signed in to that one.
   */
  async endFormer(tx: Transaction, id: string): Promise<void> {
    await this.records.endAllOf(tx, id);
    await this.sessions.removeAt(tx, id);
  }

  /**
   * Sets the given columns, and no others.
   * Races: two changes of different fields both last, as each UPDATE names only its own columns; of one field the later
   * one lasts. A deletion that commits first leaves no row, and this caller gets false.
   */
  change(tx: Transaction, id: string, change: Partial<Application>): Promise<boolean> {
    return this.rows.won(tx, { id }, { ...change, changedAt: this.clock.now() });
  }

  /**
   * Races: of two rotations that read one secret, the first UPDATE wins, and the second one matches no row. Otherwise the
   * secret that the first caller was shown would already be the former one.
   * A rotation that keeps the former secret also loses while an earlier one is kept: that one would end at once, and the
   * application that still uses it would be shut out (a second click, two administrators).
   * @param read the row on which the caller decided
   * @returns true if this caller won
   */
  rotateSecret(tx: Transaction, read: Application, { secretHash, keepUntil }: SecretChange): Promise<boolean> {
    const now = this.clock.now();
    return this.rows.won(
      tx,
      {
        id: read.id,
        secretHash: read.secretHash!,
        ...(keepUntil === null ? {} : { oldSecretExpires: Or(IsNull(), LessThanOrEqual(now)) }),
      },
      {
        secretHash,
        oldSecretHash: keepUntil === null ? null : read.secretHash,
        oldSecretExpires: keepUntil,
        changedAt: now,
      },
    );
  }

  /** Race: two deletions. The first one wins, and the second one deletes no row and gets false. */
  async remove(tx: Transaction, id: string): Promise<boolean> {
    return (await this.rows.remove(tx, { id })) === 1;
  }
}
