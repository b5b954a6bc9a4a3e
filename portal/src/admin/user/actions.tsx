import { type ReactNode, useState } from 'react';
import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { fill } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { ActionLine } from '../parts/action-line';
import { Dialog } from '../parts/dialog';
import { go, userHref } from '../place';
import type { Toast } from '../toasts';
import { isProtected, useViewer } from '../viewer';
import { type Action, actionsOf } from './actions-of';
import { MoveDialog } from './move-dialog';
import { PromoteDialog } from './promote-dialog';

interface ActionsProps {
  readonly user: AdminUserDetail;
  readonly kind: Action['kind'];
  readonly onDone: (text: string, undo?: Toast['undo']) => void;
  readonly onDeleted: (text: string) => void;
}

/** The receipt is what comes next. */
const offboardingHref = (uid: string): string => `${userHref(uid)}/offboarding`;

/** One line for each action: what it does, and its button. The button opens a dialog. */
export function Actions({ user, kind, onDone, onDeleted }: ActionsProps): ReactNode {
  const { user: texts, dialog } = useTexts();
  const viewer = useViewer();
  const [open, setOpen] = useState<Action>();
  const actions = actionsOf(user, viewer).filter((one) => one.kind === kind);
  const name = user.login_name;
  if (viewer.role !== 'auditor' && isProtected(viewer, user)) return <p className="note">{texts.rootOnly}</p>;
  return (
    <>
      <ul className="action-list">
        {actions.map((one) => (
          <ActionLine
            key={one.id}
            texts={texts.acts[one.id]}
            danger={kind === 'danger'}
            why={one.why && texts.why[one.why]}
            onOpen={() => setOpen(one)}
          >
            {one.id === 'offboard' && (
              <p className="links">
                <a href={offboardingHref(user.uid)}>{texts.toReceipt}</a>
              </p>
            )}
          </ActionLine>
        ))}
      </ul>
      {open?.id === 'promote' && (
        <PromoteDialog
          user={user}
          onDone={(right) => onDone(right === 'is_admin' ? texts.acts.promote.done : texts.roles.done)}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open?.id === 'move' && (
        <MoveDialog user={user} onDone={() => onDone(texts.acts.move.done)} onClose={() => setOpen(undefined)} />
      )}
      {open !== undefined && open.id !== 'promote' && open.id !== 'move' && (
        <Dialog
          title={fill(texts.acts[open.id].ask, { name })}
          action={texts.acts[open.id].label}
          danger={open.kind === 'danger'}
          {...(open.id === 'delete' && { typed: { text: name, label: fill(dialog.typeName, { name }) } })}
          run={open.run}
          onDone={() => {
            const text = fill(texts.acts[open.id].done, { name });
            if (open.id === 'delete') onDeleted(text);
            else if (open.id === 'offboard') go(offboardingHref(user.uid));
            else onDone(text, open.undo && (() => open.undo!().then((back) => texts.acts[back].done)));
          }}
          onClose={() => setOpen(undefined)}
        >
          <p>{fill(texts.acts[open.id].effect, { name, count: user.sessions, email: user.email ?? '' })}</p>
        </Dialog>
      )}
    </>
  );
}
