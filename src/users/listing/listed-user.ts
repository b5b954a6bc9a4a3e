import type { MfaType, Provider } from '../user.entity';

export interface UserFilter {
  /** A prefix of the login name, the e-mail address or the nickname. */
  readonly query?: string;
  readonly status?: number;
  readonly tenantId?: string;
  /** The tenant whose users the caller can reach, if not all. */
  readonly within?: string;
  readonly provider?: Provider;
  readonly locked?: boolean;
}

export interface ListedUser {
  readonly uid: string;
  readonly loginName: string;
  readonly email: string | null;
  readonly nickname: string | null;
  readonly status: number;
  readonly provider: Provider;
  readonly isAdmin: boolean;
  readonly mfaType: MfaType;
  readonly tenantId: string;
  readonly orgUnitId: string | null;
  /** Locked now after failed logins. */
  readonly locked: boolean;
  readonly createdAt: Date;
  readonly lastLoginAt: Date | null;
}
