import { type ReactNode, useState } from 'react';
import type { AdminEventReceiver } from '@portal-auth/sdk/admin';
import { Field } from '../../components/fields';
import { fill } from '../../i18n/texts';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { ActionLine } from '../parts/action-line';
import { Card } from '../parts/card';
import { Dialog } from '../parts/dialog';
import { SelectField } from '../parts/fields';
import { KeepField, useKeep } from '../parts/keep-field';
import { instant } from '../parts/log-filters';
import type { Toast } from '../toasts';

interface ActionsProps {
  readonly receiver: AdminEventReceiver;
  readonly onDone: (text: string, more?: { readonly secret?: string; readonly undo?: Toast['undo'] }) => void;
  readonly onDeleted: (text: string) => void;
}

type Act = 'pause' | 'resume' | 'rotate' | 'delete';

/** What can be done to a receiver, each behind a dialog that says what it does. */
export function ReceiverActions({ receiver, onDone, onDeleted }: ActionsProps): ReactNode {
  const { receivers: texts, user, dialog } = useTexts();
  const [open, setOpen] = useState<Act | 'replay'>();
  const { id } = receiver;
  const keep = useKeep(receiver.old_secret_expires_at);
  const run: Readonly<Record<Act, () => Promise<unknown>>> = {
    pause: () => admin.changeEventReceiver(id, { enabled: false }),
    resume: () => admin.changeEventReceiver(id, { enabled: true }),
    rotate: async () => {
      const { secret } = await admin.rotateEventReceiverSecret(id, keep.seconds);
      onDone(texts.acts.rotate.done, { secret });
    },
    delete: () => admin.deleteEventReceiver(id),
  };
  const finish = (act: Act) => {
    const text = (of: Act) => fill(texts.acts[of].done, { name: id });
    if (act === 'rotate') return;
    if (act === 'delete') return onDeleted(text(act));
    const back = act === 'pause' ? 'resume' : 'pause';
    onDone(text(act), { undo: () => run[back]().then(() => text(back)) });
  };
  const line = (act: Act | 'replay', danger = false): ReactNode => (
    <ActionLine texts={texts.acts[act]} danger={danger} onOpen={() => setOpen(act)} />
  );
  const close = () => setOpen(undefined);
  return (
    <>
      <Card title={user.actions}>
        <ul className="action-list">
          {line(receiver.enabled ? 'pause' : 'resume')}
          {line('replay')}
          {line('rotate')}
        </ul>
      </Card>
      <Card title={user.danger} danger>
        <ul className="action-list">{line('delete', true)}</ul>
      </Card>
      {open === 'replay' && (
        <ReplayDialog receiver={receiver} onDone={() => onDone(texts.acts.replay.done)} onClose={close} />
      )}
      {open !== undefined && open !== 'replay' && (
        <Dialog
          title={fill(texts.acts[open].ask, { name: id })}
          action={texts.acts[open].label}
          danger={open === 'delete'}
          {...(open === 'delete' && { typed: { text: id, label: fill(dialog.typeName, { name: id }) } })}
          run={run[open]}
          onDone={() => finish(open)}
          onClose={close}
        >
          <p>{fill(texts.acts[open].effect, { name: id })}</p>
          {open === 'rotate' && <KeepField keep={keep} texts={texts.keep} />}
        </Dialog>
      )}
    </>
  );
}

interface ReplayDialogProps {
  readonly receiver: AdminEventReceiver;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** From a moment or from an event on. What was set aside last is the usual reason. */
function ReplayDialog({ receiver: { id, last_set_aside: aside }, onDone, onClose }: ReplayDialogProps): ReactNode {
  const { receivers: texts, logs } = useTexts();
  const { ask, effect, label } = texts.acts.replay;
  const [by, setBy] = useState<'from' | 'event'>(aside === null ? 'from' : 'event');
  const [time, setTime] = useState('');
  const [event, setEvent] = useState(aside ?? '');
  const from = instant(time);
  return (
    <Dialog
      title={fill(ask, { name: id })}
      action={label}
      filled={(by === 'from' ? from : event.trim()) !== ''}
      run={() => admin.replayEventReceiver(id, by === 'from' ? { from } : { event: event.trim() })}
      onDone={onDone}
      onClose={onClose}
    >
      <p>{effect}</p>
      <SelectField
        label={texts.replayBy.label}
        value={by}
        options={[
          ['from', texts.replayBy.from],
          ['event', texts.replayBy.event],
        ]}
        onChange={setBy}
      />
      {by === 'from' ? (
        <Field label={logs.from} type="datetime-local" value={time} onChange={setTime} />
      ) : (
        <Field
          label={texts.replayBy.id}
          value={event}
          onChange={setEvent}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={36}
        />
      )}
    </Dialog>
  );
}
