import { type ReactNode, useState } from 'react';
import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { fill } from '../../i18n/texts';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Dialog } from '../parts/dialog';
import { At } from '../parts/facts';
import { CheckField, SelectField } from '../parts/fields';
import { ErrorState, LoadingState } from '../parts/states';
import { useRows } from '../use-loaded';
import type { Role } from '../viewer';

type Right = 'is_admin' | Role;
const rights = ['is_admin', 'help_desk', 'auditor'] as const;

interface PromoteDialogProps {
  readonly user: AdminUserDetail;
  readonly onDone: (right: Right) => void;
  readonly onClose: () => void;
}

/** Asks for the right before a promotion, and shows the passkeys: each of them signs in with the right afterwards. */
export function PromoteDialog({ user, onDone, onClose }: PromoteDialogProps): ReactNode {
  const { user: texts, users } = useTexts();
  const { rows, error, reload } = useRows(admin.userPasskeys(user.uid), user.uid);
  const [ending, setEnding] = useState(false);
  const [right, setRight] = useState<Right>('is_admin');
  const { acts, keys, roles } = texts;
  const isAdmin = right === 'is_admin';
  const run = () => admin.changeUser(user.uid, isAdmin ? { is_admin: true, ...noRole(user) } : { role: right });
  const name = user.login_name;
  return (
    <Dialog
      title={fill(isAdmin ? acts.promote.ask : roles.ask, { name })}
      action={isAdmin ? acts.promote.label : roles.give}
      danger
      filled={rows !== undefined}
      run={() => (ending ? withoutPasskeys(user.uid, run) : run())}
      onDone={() => onDone(right)}
      onClose={onClose}
    >
      <p>{fill(isAdmin ? acts.promote.effect : roles.effects[right], { name })}</p>
      <SelectField
        label={roles.right}
        value={right}
        options={rights
          .filter((one) => one !== user.role)
          .map((one) => [one, one === 'is_admin' ? users.administrator : users.roles[one]] as const)}
        onChange={(value) => setRight(value)}
      />
      {rows !== undefined && rows.length > 0 && (
        <>
          <p>{fill(isAdmin ? keys.promoted : roles.passkeys, { count: rows.length })}</p>
          <ul>
            {rows.map((key) => (
              <li key={key.id}>
                {key.name} (<At at={key.created_at} />)
              </li>
            ))}
          </ul>
          <CheckField label={keys.end} checked={ending} onChange={setEnding} />
        </>
      )}
      {rows === undefined &&
        (error === undefined ? <LoadingState lines={2} /> : <ErrorState error={error} retry={reload} />)}
    </Dialog>
  );
}

/** The service refuses an administrator with a role. */
const noRole = ({ role }: AdminUserDetail) => (role === null ? {} : { role: null });

/** Ends the passkeys before the promotion, and after it any that was added meanwhile: the promotion ends all sessions. */
async function withoutPasskeys(uid: string, promote: () => Promise<unknown>): Promise<void> {
  const endAll = async () => {
    for await (const { id } of admin.userPasskeys(uid).each()) await admin.removeUserPasskey(uid, id);
  };
  await endAll();
  await promote();
  await endAll();
}
