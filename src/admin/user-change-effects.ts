import { Injectable } from '@nestjs/common';
import { ReceiverDelivery } from '../events/receiver-delivery';
import { GroupMembers } from '../groups/group-members';
import { type AccountChange, Mailer } from '../mail/mailer';
import type { Transaction } from '../platform/database/database';
import { PendingLogins } from '../sessions/pending-login.repository';
import { TokenRevoker } from '../sessions/token-revoker';
import { usableAddress } from '../shared/mail-address';
import type { UserChange } from '../users/user-accounts';
import { keyOf } from '../users/user-values';
import { type User, userStatus } from '../users/user.entity';
import type { Change } from './admin-changes';
import { type Authority, foreignChange } from './authority';

/**
 * A change of an account ends something, and its owner is told. The transaction holds the row of the user; `user` has the values
 * of before the change.
 */
@Injectable()
export class UserChangeEffects {
  constructor(
    private readonly pendingLogins: PendingLogins,
    private readonly revoker: TokenRevoker,
    private readonly groups: GroupMembers,
    private readonly receivers: ReceiverDelivery,
    private readonly mailer: Mailer,
  ) {}

  /** Links to a new password are ended by the caller, which holds their gate. */
  async end({ tx, record }: Change, user: User, wanted: UserChange): Promise<void> {
    await this.endWhatWasIssued(tx, user, wanted);
    if (!differs(user, wanted, 'tenantId')) return;
    await this.groups.endAll(tx, user.uid, record);
    // After the events of these groups, which belong to the former tenant, and before that of the change.
    await this.receivers.leavesTenant(tx, user.uid, user.tenantId);
  }

  /**
   * One mail for each change that makes a difference. `user` was read under the lock of the row, so of two administrators
   * who make the same change, the second one makes no difference. A change of the address is told to both addresses, the
   * others to the former one: whoever changes the address could otherwise hide them.
   */
  async tellOwner(tx: Transaction, by: Authority, user: User, wanted: UserChange): Promise<void> {
    const owner = { ...user, email: usableAddress(user.email) ?? wanted.email ?? null };
    const tell = (change: AccountChange) => this.mailer.queueAccountChanged(tx, owner, foreignChange(change, by));
    const { email, status = user.status, isAdmin = user.isAdmin, role = user.role } = wanted;
    if (email !== undefined && keyOf(email) !== user.emailKey) {
      await this.mailer.queueEmailChanged(tx, user, email, foreignChange('email', by));
    }
    const [enabled, wasEnabled] = [status === userStatus.enabled, user.status === userStatus.enabled];
    if (enabled !== wasEnabled) await tell(enabled ? 'enabled' : 'disabled');
    if (isAdmin !== user.isAdmin) await tell(isAdmin ? 'adminGiven' : 'adminTaken');
    if (role !== user.role) await tell(role === null ? 'roleTaken' : roleGiven[role]);
    if (differs(user, wanted, 'mfaType')) await tell('secondFactorChanged');
  }

  private async endWhatWasIssued(tx: Transaction, user: User, wanted: UserChange): Promise<void> {
    const scoped = (['tenantId', 'isAdmin', 'role'] as const).some((field) => differs(user, wanted, field));
    const judged = differs(user, wanted, 'status') || (wanted.status ?? userStatus.enabled) !== userStatus.enabled;
    if (scoped || judged) {
      await this.revoker.revokeAll(tx, user.uid);
      return;
    }
    const hasAnotherFactor = differs(user, wanted, 'mfaType');
    // A code of the former kind, or to the former address, must open no session any more: somebody else may have it.
    if (wanted.email !== undefined || hasAnotherFactor) await this.pendingLogins.close(tx, user.uid);
    if (hasAnotherFactor) await this.revoker.endTrustedDevices(tx, user.uid);
  }
}

export const differs = (user: User, wanted: UserChange, field: keyof UserChange): boolean =>
  wanted[field] !== undefined && wanted[field] !== user[field];

/** The mail of each role. */
const roleGiven = { help_desk: 'helpDeskGiven', auditor: 'auditorGiven' } as const;
