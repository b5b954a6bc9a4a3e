import { type ReactNode, useState } from 'react';
import { fill } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { ActionLine } from '../parts/action-line';
import { Card } from '../parts/card';
import { Dialog } from '../parts/dialog';
import { KeepField, useKeep } from '../parts/keep-field';
import { hasSecret } from './application';
import type { AdminApplication } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import type { Toast } from '../toasts';

interface ActionsProps {
  readonly application: AdminApplication;
  readonly onDone: (text: string, more?: { readonly secret?: string; readonly undo?: Toast['undo'] }) => void;
  readonly onDeleted: (text: string) => void;
}

type Act = 'rotate' | 'disable' | 'enable' | 'delete';

/** What can be done to an application, each behind a dialog that says what it does. */
export function ApplicationActions({ application, onDone, onDeleted }: ActionsProps): ReactNode {
  const { applications: texts, user, dialog } = useTexts();
  const [open, setOpen] = useState<Act>();
  const keep = useKeep(application.old_secret_expires_at);
  const { id, name } = application;
  const run: Readonly<Record<Act, () => Promise<unknown>>> = {
    rotate: async () => {
      const { client_secret } = await admin.rotateApplicationSecret(id, keep.seconds);
      onDone(texts.acts.rotate.done, client_secret == null ? {} : { secret: client_secret });
    },
    disable: () => admin.changeApplication(id, { enabled: false }),
    enable: () => admin.changeApplication(id, { enabled: true }),
    delete: () => admin.deleteApplication(id),
  };
  const line = (act: Act, danger: boolean): ReactNode => (
    <ActionLine texts={texts.acts[act]} danger={danger} onOpen={() => setOpen(act)} />
  );
  const finish = (act: Act) => {
    const text = (of: Act) => fill(texts.acts[of].done, { name });
    if (act === 'delete') return onDeleted(text(act));
    if (act === 'rotate') return;
    const back = act === 'disable' ? 'enable' : 'disable';
    onDone(text(act), { undo: () => run[back]().then(() => text(back)) });
  };
  return (
    <>
      {hasSecret(application.type) && (
        <Card title={user.actions}>
          <ul className="action-list">{line('rotate', false)}</ul>
        </Card>
      )}
      <Card title={user.danger} danger>
        <ul className="action-list">
          {line(application.enabled ? 'disable' : 'enable', true)}
          {line('delete', true)}
        </ul>
      </Card>
      {open !== undefined && (
        <Dialog
          title={fill(texts.acts[open].ask, { name })}
          action={texts.acts[open].label}
          danger={open === 'disable' || open === 'delete'}
          {...(open === 'delete' && { typed: { text: name, label: fill(dialog.typeName, { name }) } })}
          run={run[open]}
          onDone={() => finish(open)}
          onClose={() => setOpen(undefined)}
        >
          <p>{fill(texts.acts[open].effect, { name })}</p>
          {open === 'rotate' && <KeepField keep={keep} texts={texts.keep} />}
        </Dialog>
      )}
    </>
  );
}
