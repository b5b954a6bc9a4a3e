import { Injectable } from '@nestjs/common';
import { type LogoutPlace, type LogoutReceipt, LogoutTokens } from '../applications/logout-tokens';
import { LoginLogs, type PastLogin } from '../audit/login-log.repository';
import { GroupMembers, type GroupOfUser } from '../groups/group-members';
import { RecoveryCodes } from '../mfa/recovery-codes';
import { OwnPasskeys } from '../passkeys/own-passkeys';
import { type TrustedDevice, TrustedDevices } from '../sessions/trusted-devices';
import { type UserSession, UserSessions } from '../sessions/user-sessions';
import { AccountStatus } from '../users/account-status';
import { type User, userStatus } from '../users/user.entity';
import { type ListedUser, type UserFilter, UserListing, type UserPage, type UserPlace } from '../users/user-listing';
import { UserTotals } from '../users/user-totals';
import { everyTenant } from './admin-scope';
import type { Authority } from './authority';
import { TargetUsers } from './target-users';

export interface UserDetail {
  readonly user: User;
  readonly listed: ListedUser;
  readonly dormant: boolean;
  readonly recoveryCodesLeft: number;
  readonly passkeys: number;
  readonly sessions: number;
  readonly devices: number;
  readonly groups: readonly GroupOfUser[];
}

/** What administrators see of a passkey. The name is that which the owner chose. */
export interface UserPasskey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly backedUp: boolean;
}

/** What administrators see of users. Users of other tenants, and deleted ones, do not exist for them. */
@Injectable()
export class AdminUsers {
  constructor(
    private readonly listing: UserListing,
    private readonly totals: UserTotals,
    private readonly status: AccountStatus,
    private readonly targets: TargetUsers,
    private readonly userSessions: UserSessions,
    private readonly devices: TrustedDevices,
    private readonly recoveryCodes: RecoveryCodes,
    private readonly ownPasskeys: OwnPasskeys,
    private readonly history: LoginLogs,
    private readonly logoutTokens: LogoutTokens,
    private readonly groups: GroupMembers,
  ) {}

  /** `total` is null when there are more than are counted, and when nobody asks for it. */
  async page(
    by: Authority,
    filter: UserFilter,
    limit: number,
    after: UserPlace | undefined,
    counted: boolean,
  ): Promise<Omit<UserPage, 'total'> & { readonly total: number | null }> {
    const within = withinScope(by, filter);
    if (!counted) return { ...(await this.listing.page(within, { limit, after })), total: null };
    const surveyed = await this.totals.survey(within);
    const page = await this.listing.page(within, { limit, after, surveyed: Promise.resolve(surveyed) });
    return { ...page, total: page.total ?? (await this.totals.of(within, surveyed)) };
  }

  /** @throws AccountProblem USER_404001 */
  async detail(by: Authority, uid: string): Promise<UserDetail> {
    const user = await this.targets.find(by, uid);
    const { left } = await this.recoveryCodes.summary(uid);
    return {
      user,
      listed: this.listing.listed(user),
      dormant: user.status === userStatus.enabled && this.status.isDormant(user),
      recoveryCodesLeft: left,
      passkeys: (await this.ownPasskeys.list(uid)).length,
      sessions: await this.userSessions.count(uid),
      devices: (await this.devices.list(user)).length,
      groups: await this.groups.groupsOf(user),
    };
  }

  /** The sessions that have not ended, the newest first. @throws AccountProblem USER_404001 */
  async sessions(by: Authority, uid: string): Promise<UserSession[]> {
    await this.targets.find(by, uid);
    return this.userSessions.list(uid);
  }

  /** The newest first, also with `PASSKEYS=off`. @throws AccountProblem USER_404001 */
  async passkeys(by: Authority, uid: string): Promise<UserPasskey[]> {
    await this.targets.find(by, uid);
    return this.ownPasskeys.list(uid);
  }

  /** The devices on which a login needs no code, the newest first. @throws AccountProblem USER_404001 */
  async trustedDevices(by: Authority, uid: string): Promise<TrustedDevice[]> {
    const devices = await this.devices.list(await this.targets.find(by, uid));
    return devices.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? -1 : 1));
  }

  /** The newest first. @throws AccountProblem USER_404001 */
  async logins(by: Authority, uid: string, limit: number, before?: { at: Date; id: number }): Promise<PastLogin[]> {
    await this.targets.find(by, uid);
    return this.history.page(uid, limit, before);
  }

  /** What the applications of the user were told, the newest first. @throws AccountProblem USER_404001 */
  async logouts(by: Authority, uid: string, limit: number, after?: LogoutPlace): Promise<LogoutReceipt[]> {
    await this.targets.find(by, uid);
    return this.logoutTokens.receipts(uid, limit, after);
  }
}

const withinScope = ({ scope }: Authority, filter: UserFilter): UserFilter => ({
  ...filter,
  within: scope.tenantId === everyTenant ? undefined : scope.tenantId,
});
