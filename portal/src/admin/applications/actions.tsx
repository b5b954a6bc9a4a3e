import { type ReactNode, useState } from 'react';
import { fill } from '../../i18n/texts';
import { useServiceTime } from '../../service-time';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { Dialog } from '../parts/dialog';
import { SelectField } from '../parts/fields';
import { hasSecret } from './application';
import type { AdminApplication } from '@portal-auth/sdk/admin';
import { admin } from '../client';

interface ActionsProps {
  readonly application: AdminApplication;
  readonly onDone: (text: string, secret?: string) => void;
  readonly onDeleted: (text: string) => void;
}

/** Seconds that the former secret still works: none, an hour, a day, a week. */
const keeps = [0, 3600, 86_400, 604_800] as const;
type Keep = (typeof keeps)[number];

type Act = 'rotate' | 'disable' | 'enable' | 'delete';

/** Whether the secret before the present one still works. */
const useKept = ({ old_secret_expires_at: until }: AdminApplication): boolean => {
  const now = useServiceTime();
  return until !== null && Date.parse(until) > now;
};

/** What can be done to an application, each behind a dialog that says what it does. */
export function ApplicationActions({ application, onDone, onDeleted }: ActionsProps): ReactNode {
  const { applications: texts, user, dialog } = useTexts();
  const [open, setOpen] = useState<Act>();
  const [chosen, setKeep] = useState<Keep>(86_400);
  // Only one former secret is kept: a third one would end the one that the application may still use.
  const kept = useKept(application);
  const keep = kept ? 0 : chosen;
  const { id, name } = application;
  const run: Readonly<Record<Act, () => Promise<unknown>>> = {
    rotate: async () => {
      const { client_secret } = await admin.rotateApplicationSecret(id, keep);
      onDone(texts.acts.rotate.done, client_secret ?? undefined);
    },
    disable: () => admin.changeApplication(id, { enabled: false }),
    enable: () => admin.changeApplication(id, { enabled: true }),
    delete: () => admin.deleteApplication(id),
  };
  const line = (act: Act, danger: boolean): ReactNode => {
    const { label, text, button } = texts.acts[act];
    return (
      <li key={act}>
        <div>
          <p className="action-name">{label}</p>
          <p className="note">{text}</p>
        </div>
        <button
          type="button"
          className={danger ? 'secondary small danger' : 'secondary small'}
          aria-label={`${button}: ${label}`}
          onClick={() => setOpen(act)}
        >
          {button}
        </button>
      </li>
    );
  };
  const finish = (act: Act) => {
    const text = fill(texts.acts[act].done, { name });
    if (act === 'delete') onDeleted(text);
    else if (act !== 'rotate') onDone(text);
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
          {open === 'rotate' && (
            <SelectField
              label={texts.keep.label}
              value={String(keep)}
              options={keeps.filter((one) => one === 0 || !kept).map((one) => [String(one), texts.keep.times[one]])}
              onChange={(value) => setKeep(Number(value) as Keep)}
              hint={kept ? texts.keep.former : keep === 0 ? texts.keep.none : undefined}
            />
          )}
        </Dialog>
      )}
    </>
  );
}
