import { Injectable } from '@nestjs/common';
import { LoginJournal } from '../audit/login-journal';
import { Database } from '../platform/database/database';
import { DiskSpace } from '../platform/database/disk-space';
import { rolledBack } from '../platform/database/writability';

/** Whether the disk of the database is full. After a refused write, rows of a login are tried and rolled back. */
@Injectable()
export class DiskCheck {
  constructor(
    private readonly space: DiskSpace,
    private readonly database: Database,
    private readonly journal: LoginJournal,
  ) {}

  isFull(): Promise<boolean> {
    return this.space.isFull(() => rolledBack(this.database, (tx) => this.journal.rehearse(tx)));
  }
}
