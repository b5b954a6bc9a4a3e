import { Injectable } from '@nestjs/common';
import type { OldRows } from '../platform/database/old-rows';
import type { ToldTable } from '../platform/database/told-rows';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import { offboardingStatus } from './persistence/offboarding.entity';

/** The receipts are a log. */
export const oldOffboardings: OldRows = { table: 'offboardings', key: 'id', time: 'began_at', seconds: 'logs' };

/** What the table keeps of a deleted user is the uid alone, and it proves that the user was ended. So it erases nothing. */
@Injectable()
export class OffboardingTraces implements UserTrace {
  readonly tables = [];
  readonly told: readonly ToldTable[] = [
    {
      table: 'offboardings',
      user: 'user_id',
      order: ['id'],
      columns: {
        ...{ id: 'value', via: 'value', began_by: 'internal', began_at: 'time', steps: 'json', receivers: 'json' },
        status: { [offboardingStatus.open]: 'open', [offboardingStatus.complete]: 'complete' },
        ...{ completed_at: 'time', restored_at: 'time', restored_by: 'internal' },
        ...{ webhook: 'flag', next_check_at: 'internal' },
      },
    },
  ];

  constructor(traces: UserTraces) {
    traces.register(this);
  }
}
