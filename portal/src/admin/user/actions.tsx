import { type ReactNode, useState } from 'react';
import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { fill } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { Dialog } from '../parts/dialog';
import { useViewer } from '../viewer';
import { type Action, actionsOf } from './actions-of';
import { PromoteDialog } from './promote-dialog';

interface ActionsProps {
  readonly user: AdminUserDetail;
  readonly kind: Action['kind'];
  readonly onDone: (text: string) => void;
  readonly onDeleted: (text: string) => void;
}

/** One line for each action: what it does, and its button. The button opens a dialog. */
export function Actions({ user, kind, onDone, onDeleted }: ActionsProps): ReactNode {
  const { user: texts, dialog } = useTexts();
  const viewer = useViewer();
  const [open, setOpen] = useState<Action>();
  const actions = actionsOf(user, viewer).filter((one) => one.kind === kind);
  const name = user.login_name;
  if (!viewer.root && user.is_admin) return <p className="note">{texts.rootOnly}</p>;
  return (
    <>
      <ul className="action-list">
        {actions.map((one) => {
          const { label, text, button } = texts.acts[one.id];
          return (
            <li key={one.id}>
              <div>
                <p className="action-name">{label}</p>
                <p className="note">{one.why === undefined ? text : texts.why[one.why]}</p>
              </div>
              <button
                type="button"
                className={kind === 'danger' ? 'secondary small danger' : 'secondary small'}
                disabled={one.why !== undefined}
                aria-label={`${button}: ${label}`}
                onClick={() => setOpen(one)}
              >
                {button}
              </button>
            </li>
          );
        })}
      </ul>
      {open?.id === 'promote' && (
        <PromoteDialog
          user={user}
          run={open.run}
          onDone={() => onDone(fill(texts.acts.promote.done, { name }))}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open !== undefined && open.id !== 'promote' && (
        <Dialog
          title={fill(texts.acts[open.id].ask, { name })}
          action={texts.acts[open.id].label}
          danger={open.kind === 'danger'}
          {...(open.id === 'delete' && { typed: { text: name, label: fill(dialog.typeName, { name }) } })}
          run={open.run}
          onDone={() => {
            const text = fill(texts.acts[open.id].done, { name });
            if (open.id === 'delete') onDeleted(text);
            else onDone(text);
          }}
          onClose={() => setOpen(undefined)}
        >
          <p>{fill(texts.acts[open.id].effect, { name, count: user.sessions, email: user.email ?? '' })}</p>
        </Dialog>
      )}
    </>
  );
}
