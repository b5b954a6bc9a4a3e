import { type ReactNode, useState } from 'react';
import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { fill } from '../../i18n/texts';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Dialog } from '../parts/dialog';
import { At } from '../parts/facts';
import { CheckField } from '../parts/fields';
import { ErrorState, LoadingState } from '../parts/states';
import { useRows } from '../use-loaded';

interface PromoteDialogProps {
  readonly user: AdminUserDetail;
  readonly run: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Asks before a promotion, and shows the passkeys: each of them signs in as an administrator afterwards. */
export function PromoteDialog({ user, run, onDone, onClose }: PromoteDialogProps): ReactNode {
  const { user: texts } = useTexts();
  const { rows, error, reload } = useRows(admin.userPasskeys(user.uid), user.uid);
  const [ending, setEnding] = useState(false);
  const { acts, keys } = texts;
  const name = user.login_name;
  return (
    <Dialog
      title={fill(acts.promote.ask, { name })}
      action={acts.promote.label}
      danger
      filled={rows !== undefined}
      run={() => (ending ? withoutPasskeys(user.uid, run) : run())}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{fill(acts.promote.effect, { name })}</p>
      {rows !== undefined && rows.length > 0 && (
        <>
          <p>{fill(keys.promoted, { count: rows.length })}</p>
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

/** Ends the passkeys before the promotion, and after it any that was added meanwhile: the promotion ends all sessions. */
async function withoutPasskeys(uid: string, promote: () => Promise<unknown>): Promise<void> {
  const endAll = async () => {
    for await (const { id } of admin.userPasskeys(uid).each()) await admin.removeUserPasskey(uid, id);
  };
  await endAll();
  await promote();
  await endAll();
}
