import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import type { ToldTable } from '../platform/database/told-rows';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import { GroupMembers } from './group-members';

/** Ends the memberships of a deleted user. A user who leaves stays a member, which opens nothing. */
@Injectable()
export class GroupTraces implements UserTrace {
  readonly tables = ['user_group_members'];
  readonly told: readonly ToldTable[] = [
    {
      table: 'user_group_members',
      section: 'group_memberships',
      user: 'user_id',
      order: ['group_id'],
      more: { name: '(SELECT g.name FROM user_groups g WHERE g.id = user_group_members.group_id)' },
      columns: { group_id: 'value', added_at: 'time' },
    },
  ];

  constructor(
    traces: UserTraces,
    private readonly members: GroupMembers,
  ) {
    traces.register(this);
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    await this.members.endAll(tx, uid);
  }
}
