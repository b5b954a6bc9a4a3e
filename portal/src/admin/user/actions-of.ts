import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import type { Texts } from '../i18n/en';
import type { Viewer } from '../viewer';

export interface Action {
  readonly id: keyof Texts['user']['acts'];
  readonly kind: 'usual' | 'danger';
  readonly run: () => Promise<unknown>;
  /** Why the action is not possible now. */
  readonly why?: keyof Texts['user']['why'] | undefined;
}

const enabled = 1;
const disabled = -1;

/** Every action of the API on this user. What the service would refuse is shown with the reason. */
export function actionsOf(user: AdminUserDetail, { me, root }: Viewer): Action[] {
  const { uid } = user;
  const self = uid === me.uid;
  const directory = user.provider === 'ldap';
  const mailed = directory ? 'directory' : user.email === null ? 'noEmail' : undefined;
  const change = (id: Action['id'], values: Parameters<typeof admin.changeUser>[1]): Action => ({
    id,
    kind: 'danger',
    run: () => admin.changeUser(uid, values),
    why: self ? 'self' : undefined,
  });
  return [
    {
      id: 'unlock',
      kind: 'usual',
      run: () => admin.unlockUser(uid),
      why: user.locked || user.failed_logins > 0 ? undefined : 'notLocked',
    },
    { id: 'resetLink', kind: 'usual', run: () => admin.sendResetLink(uid), why: mailed },
    {
      id: 'requireChange',
      kind: 'usual',
      run: () => admin.requirePasswordChange(uid),
      why: directory ? 'directory' : user.must_change_password ? 'mustChange' : undefined,
    },
    { id: 'invite', kind: 'usual', run: () => admin.inviteUser(uid), why: mailed },
    {
      id: 'endSessions',
      kind: 'usual',
      run: () => admin.endUserSessions(uid),
    },
    { id: 'resetFactor', kind: 'usual', run: () => admin.resetSecondFactor(uid) },
    user.status === enabled ? change('disable', { status: disabled }) : change('enable', { status: enabled }),
    ...(root ? [change(user.is_admin ? 'demote' : 'promote', { is_admin: !user.is_admin })] : []),
    { id: 'delete', kind: 'danger', run: () => admin.deleteUser(uid), why: self ? 'self' : undefined },
  ];
}
