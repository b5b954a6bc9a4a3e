import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { saveFile } from '../../components/save-file';
import { admin } from '../client';
import type { Texts } from '../i18n/en';
import { exported, offboard } from './leaving';
import type { Role, Viewer } from '../viewer';

export interface Action {
  readonly id: keyof Texts['user']['acts'];
  readonly kind: 'usual' | 'danger';
  readonly run: () => Promise<unknown>;
  /** Does the opposite, and returns which action that is. */
  readonly undo?: () => Promise<Status>;
  /** Why the action is not possible now. */
  readonly why?: keyof Texts['user']['why'] | undefined;
}

const none = () => Promise.resolve();
const statuses = { enable: 1, disable: -1 } as const;
type Status = keyof typeof statuses;

/** What each role may do to a user, of all actions. */
const ofRole: Readonly<Record<Role, readonly Action['id'][]>> = {
  help_desk: ['unlock', 'resetLink', 'invite', 'endSessions', 'resetFactor'],
  auditor: ['export'],
};

/** The actions that this viewer may do. */
export function actionsOf(user: AdminUserDetail, viewer: Viewer): Action[] {
  const { role } = viewer;
  return allActions(user, viewer).filter(({ id }) => role === undefined || ofRole[role].includes(id));
}

/** Every action of the API on this user. What the service would refuse is shown with the reason. */
function allActions(user: AdminUserDetail, { me, root }: Viewer): Action[] {
  const { uid } = user;
  const self = uid === me.uid;
  const { provider } = user;
  const elsewhere = provider === 'ldap' ? 'directory' : provider === 'oidc' ? 'identityProvider' : undefined;
  const mailed = elsewhere ?? (user.email === null ? 'noEmail' : undefined);
  const change = (id: Action['id'], values: Parameters<typeof admin.changeUser>[1]): Action => ({
    id,
    kind: 'danger',
    run: () => admin.changeUser(uid, values),
    why: self ? 'self' : undefined,
  });
  const status = (to: Status, back: Status): Action => ({
    ...change(to, { status: statuses[to] }),
    // A status other than these two cannot be brought back, and neither can it that the user was unused for too long.
    ...(user.status === statuses[back] &&
      !user.dormant && {
        undo: () => admin.changeUser(uid, { status: statuses[back] }).then(() => back),
      }),
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
      why: elsewhere ?? (user.must_change_password ? 'mustChange' : undefined),
    },
    { id: 'invite', kind: 'usual', run: () => admin.inviteUser(uid), why: mailed },
    {
      id: 'endSessions',
      kind: 'usual',
      run: () => admin.endUserSessions(uid),
    },
    { id: 'resetFactor', kind: 'usual', run: () => admin.resetSecondFactor(uid) },
    {
      id: 'export',
      kind: 'usual',
      run: async () => saveFile(`user-${uid}.json`, await exported(uid)),
    },
    { id: 'offboard', kind: 'danger', run: () => offboard(uid), why: self ? 'self' : undefined },
    ...(user.status !== statuses.enable || user.dormant ? [status('enable', 'disable')] : []),
    ...(user.status === statuses.enable ? [status('disable', 'enable')] : []),
    // The dialog asks where to.
    ...(root ? [{ id: 'move', kind: 'danger', run: none, why: self ? 'self' : undefined } as const] : []),
    // The dialog asks for the right.
    ...(root && !user.is_admin ? [change('promote', {})] : []),
    ...(root && user.is_admin ? [change('demote', { is_admin: false })] : []),
    ...(root && user.role != null ? [change('takeRole', { role: null })] : []),
    { id: 'delete', kind: 'danger', run: () => admin.deleteUser(uid), why: self ? 'self' : undefined },
  ];
}
