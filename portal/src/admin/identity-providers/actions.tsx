import { type ReactNode, useState } from 'react';
import type { AdminIdentityProvider } from '@portal-auth/sdk/admin';
import { fill } from '../../i18n/texts';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { ActionLine } from '../parts/action-line';
import { Card } from '../parts/card';
import { Dialog } from '../parts/dialog';
import type { Toast } from '../toasts';

interface ActionsProps {
  readonly provider: AdminIdentityProvider;
  readonly onDone: (text: string, undo?: Toast['undo']) => void;
  readonly onDeleted: (text: string) => void;
}

type Act = 'disable' | 'enable' | 'delete';

/** What can be done to an identity provider, each behind a dialog that says what it does. */
export function ProviderActions({ provider, onDone, onDeleted }: ActionsProps): ReactNode {
  const { identityProviders: texts, user, dialog } = useTexts();
  const [open, setOpen] = useState<Act>();
  const { id, name, bound_users: count } = provider;
  const run: Readonly<Record<Act, () => Promise<unknown>>> = {
    disable: () => admin.changeIdentityProvider(id, { enabled: false }),
    enable: () => admin.changeIdentityProvider(id, { enabled: true }),
    delete: () => admin.deleteIdentityProvider(id),
  };
  const finish = (act: Act) => {
    const text = (of: Act) => fill(texts.acts[of].done, { name });
    if (act === 'delete') return onDeleted(text(act));
    const back = act === 'disable' ? 'enable' : 'disable';
    onDone(text(act), () => run[back]().then(() => text(back)));
  };
  const line = (act: Act, why?: string): ReactNode => (
    <ActionLine texts={texts.acts[act]} danger why={why} onOpen={() => setOpen(act)} />
  );
  return (
    <Card title={user.danger} danger>
      <ul className="action-list">
        {line(provider.enabled ? 'disable' : 'enable')}
        {line('delete', count > 0 ? fill(texts.hasUsers, { count }) : undefined)}
      </ul>
      {open !== undefined && (
        <Dialog
          title={fill(texts.acts[open].ask, { name })}
          action={texts.acts[open].label}
          danger={open !== 'enable'}
          {...(open === 'delete' && { typed: { text: name, label: fill(dialog.typeName, { name }) } })}
          run={run[open]}
          onDone={() => finish(open)}
          onClose={() => setOpen(undefined)}
        >
          <p>{fill(texts.acts[open].effect, { name, count })}</p>
        </Dialog>
      )}
    </Card>
  );
}
