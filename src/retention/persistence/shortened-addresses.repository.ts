import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, type Repository } from 'typeorm';
import { Database } from '../../platform/database/database';
import { EntityRows } from '../../platform/database/entity-rows';
import { ShortenedAddresses } from './shortened-addresses.entity';

/** The table `shortened_addresses`: one row for each log. */
@Injectable()
export class ShortenedMarks {
  private readonly rows: EntityRows<ShortenedAddresses>;

  constructor(
    @InjectRepository(ShortenedAddresses) rows: Repository<ShortenedAddresses>,
    private readonly database: Database,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  async of(log: string): Promise<Date | undefined> {
    return (await this.rows.findOne({ log }))?.shortenedUntil;
  }

  /**
   * Call it when the rows before this time are written.
   * Race: two runs of `purge`. The mark only moves forward: a run that is behind matches no row, and has done work twice.
   */
  async advance(log: string, shortenedUntil: Date): Promise<void> {
    const isFirst = (await this.of(log)) === undefined;
    if (isFirst && (await this.rows.added(this.database, { log, shortenedUntil }))) return;
    await this.rows.won(this.database, { log, shortenedUntil: LessThan(shortenedUntil) }, { shortenedUntil });
  }
}
