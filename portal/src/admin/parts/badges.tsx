import type { ReactNode } from 'react';
import type { AdminUser, AdminUserDetail } from '@portal-auth/sdk/admin';
import { useTexts } from '../i18n/texts';
import { roleOf } from '../viewer';

/** The values of `users.status` (docs/spec/decisions.md#2). */
export const statuses = ['1', '0', '-1', '-2'] as const;
export type Status = (typeof statuses)[number];

const looks: Readonly<Record<Status, string>> = { 1: 'good', 0: 'warn', '-1': 'bad', '-2': 'plain' };

export function StatusBadge({ status }: { readonly status: number }): ReactNode {
  const { users } = useTexts();
  const known = statuses.find((one) => Number(one) === status);
  return (
    <span className={`badge ${known === undefined ? 'plain' : looks[known]}`}>
      {known === undefined ? status : users.status[known]}
    </span>
  );
}

/** Only the page of a user knows whether the account is dormant. */
export function UserBadges({
  user,
}: {
  readonly user: AdminUser & Partial<Pick<AdminUserDetail, 'dormant'>>;
}): ReactNode {
  const { users } = useTexts();
  return (
    <span className="badges">
      <StatusBadge status={user.status} />
      {user.locked && <span className="badge bad">{users.locked}</span>}
      {user.dormant === true && <span className="badge warn">{users.dormant}</span>}
      <KindBadges user={user} />
    </span>
  );
}

/** Where the user signs in, if it is not here, and the rights. */
export function KindBadges({ user }: { readonly user: Pick<AdminUser, 'provider' | 'is_admin' | 'role'> }): ReactNode {
  const { users } = useTexts();
  const role = roleOf(user);
  return (
    <>
      {user.provider !== 'password' && <span className="badge plain">{users.providers[user.provider]}</span>}
      {user.is_admin && <span className="badge">{users.administrator}</span>}
      {role !== undefined && <span className="badge">{users.roles[role]}</span>}
    </>
  );
}

/** `success` or an error code. A code without a text is shown itself. */
export function OutcomeBadge({ outcome }: { readonly outcome: string }): ReactNode {
  const { logins } = useTexts();
  const text = (logins.outcomes as Record<string, string>)[outcome] ?? outcome;
  return (
    <span className={outcome === 'success' ? 'badge good' : 'badge bad'} title={outcome}>
      {text}
    </span>
  );
}

export function EnabledBadge({ enabled }: { readonly enabled: boolean }): ReactNode {
  const { users } = useTexts();
  return <span className={enabled ? 'badge good' : 'badge bad'}>{users.status[enabled ? '1' : '-1']}</span>;
}
