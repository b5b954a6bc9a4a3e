import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, MoreThan, type Repository } from 'typeorm';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { isUuid } from '../shared/uuid';
import { SubjectIds } from '../users/subject-ids';
import { Application } from './application.entity';

/** How `SubjectIds` names the owner of this table. */
export const anApplication = 'an application';

/** The table `applications`. Nothing is cached, so a change counts at once, on every replica. */
@Injectable()
export class Applications {
  private readonly rows: EntityRows<Application>;

  constructor(@InjectRepository(Application) rows: Repository<Application>, database: Database, ids: SubjectIds) {
    this.rows = new EntityRows(rows, database);
    ids.register({
      what: anApplication,
      held: async (given, sql) => (await this.rows.find({ id: In([...given]) }, {}, sql)).map(({ id }) => id),
    });
  }

  /** MySQL ignores spaces at the end of a text that it compares, so only exact identifiers reach it. */
  find(id: string): Promise<Application | null> {
    return isUuid(id) ? this.rows.findOne({ id }) : Promise.resolve(null);
  }

  /** The newest first. There are a few dozen. */
  list(): Promise<Application[]> {
    return this.rows.find({ id: MoreThan('') }, { order: { createdAt: 'DESC', id: 'ASC' } });
  }
}
