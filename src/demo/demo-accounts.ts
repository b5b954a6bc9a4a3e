import { rootTenant } from '../platform/settings/system-settings';
import type { NewUser } from '../users/user-accounts';
import { userStatus } from '../users/user.entity';

export const demoPassword = 'Demo-Password-1';

interface DemoAccount {
  readonly what: string;
  readonly user: Omit<NewUser, 'passwordHash'>;
  /** Days since the password was set. */
  readonly passwordAgeDays: number;
}

const ordinary = {
  temporary: false,
  status: userStatus.enabled,
  mfaType: 'email',
  provider: 'password',
  isAdmin: false,
  tenantId: rootTenant,
  orgUnitId: null,
} as const;

/** One account for each outcome of a login that a new user of the demo may want to see. */
export const demoAccounts: readonly DemoAccount[] = [
  {
    what: 'logs in',
    user: { ...ordinary, loginName: 'alice', email: 'alice@example.com', nickname: 'Alice' },
    passwordAgeDays: 0,
  },
  {
    what: 'administrates the service',
    user: { ...ordinary, loginName: 'admin', email: 'admin@example.com', nickname: 'Admin', isAdmin: true },
    passwordAgeDays: 0,
  },
  {
    what: 'is disabled (LOGIN_401011)',
    user: { ...ordinary, loginName: 'bob', email: 'bob@example.com', nickname: 'Bob', status: userStatus.disabled },
    passwordAgeDays: 0,
  },
  {
    what: 'has an expired password (change_password, type 3)',
    user: { ...ordinary, loginName: 'carol', email: 'carol@example.com', nickname: 'Carol' },
    passwordAgeDays: 91,
  },
  {
    what: 'must set a first password (change_password, type 0)',
    user: { ...ordinary, loginName: 'dave', email: 'dave@example.com', nickname: 'Dave', temporary: true },
    passwordAgeDays: 0,
  },
];
