import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import DataLoader from 'dataloader';
import { In, MoreThan, type Repository } from 'typeorm';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { filledUp } from '../platform/database/statement-keys';
import { isUuid } from '../shared/uuid';
import { SubjectIds } from '../users/subject-ids';
import { Application } from './application.entity';

/** How `SubjectIds` names the owner of this table. */
export const anApplication = 'an application';

/** The table `applications`. Nothing is cached, so a change counts at once, on every replica. */
@Injectable()
export class Applications {
  private readonly rows: EntityRows<Application>;

  /** An application asks for all of its users. Its requests in one iteration of the event loop share a statement. */
  private readonly asked = new DataLoader<string, Application | null>((ids) => this.findAll(ids), {
    cache: false,
    maxBatchSize: 32,
    batchScheduleFn: setImmediate,
  });

  constructor(
    @InjectRepository(Application) rows: Repository<Application>,
    private readonly database: Database,
    ids: SubjectIds,
  ) {
    this.rows = new EntityRows(rows, database);
    ids.register({
      what: anApplication,
      held: async (given, sql) => (await this.rows.find({ id: In([...given]) }, {}, sql)).map(({ id }) => id),
    });
  }

  /** MySQL ignores spaces at the end of a text that it compares, so only exact identifiers reach it. */
  find(id: string): Promise<Application | null> {
    return isUuid(id) ? this.asked.load(id) : Promise.resolve(null);
  }

  /** The newest first. There are a few dozen. */
  list(): Promise<Application[]> {
    return this.rows.find({ id: MoreThan('') }, { order: { createdAt: 'DESC', id: 'ASC' } });
  }

  private async findAll(ids: readonly string[]): Promise<(Application | null)[]> {
    const asked = filledUp([...new Set(ids)]);
    const rows = await this.database.rows<Record<string, unknown>>(
      `SELECT ${this.rows.columns('a')} FROM applications a WHERE a.id IN (${asked.map(() => '?').join(', ')})`,
      asked,
    );
    const found = new Map(rows.map((row) => [row.a_id, row]));
    return ids.map((id) => {
      const row = found.get(id);
      return row === undefined ? null : this.rows.read(row, 'a');
    });
  }
}
