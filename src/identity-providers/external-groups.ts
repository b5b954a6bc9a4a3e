import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../audit/audit-trail';
import { FollowedGroups } from '../groups/followed-groups';
import type { Transaction } from '../platform/database/database';
import type { User } from '../users/user.entity';

/** Keeps the memberships that a provider tells with the claim `groups` (docs/spec/extensions.md#k). */
@Injectable()
export class ExternalGroups {
  constructor(
    private readonly followed: FollowedGroups,
    private readonly audit: AuditTrail,
  ) {}

  /** The user is in exactly these groups of the provider. Races and limits are those of FollowedGroups. */
  async follow(tx: Transaction, user: User, identityProviderId: string, names: readonly string[]): Promise<void> {
    const owner = { source: 'provider', ownerId: identityProviderId } as const;
    if (!(await this.followed.differs(user, owner, names, tx))) return;
    await this.followed.follow(
      { tx, record: (event, entry) => this.audit.record(tx, event, entry) },
      user,
      owner,
      names,
    );
  }
}
