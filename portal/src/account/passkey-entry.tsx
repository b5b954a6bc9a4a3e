import { type ReactNode, useState } from 'react';
import { type Passkey, ServiceError } from '@portal-auth/sdk';
import { auth } from '../auth';
import { Form } from '../components/form';
import { ConfirmActions, FormActions } from '../components/form-actions';
import { Key } from '../components/icons';
import { Failure } from '../components/message';
import { fill, useSpeech } from '../i18n/texts';
import { useAskBeforeLeaving } from '../unsaved';
import { useTask } from '../use-task';
import { Entry, Time } from './entry';
import { useTexts } from './i18n/texts';
import { PasskeyName } from './passkey-name';

interface PasskeyEntryProps {
  readonly passkey: Passkey;
  /** The user begins something, so the message about the last change is over. */
  readonly onStart: () => void;
  readonly onDone: (text: string) => void;
}

/** One passkey, which can be renamed and removed. */
export function PasskeyEntry({ passkey, onStart, onDone }: PasskeyEntryProps): ReactNode {
  const { t } = useSpeech();
  const { passkeys: texts } = t.account;
  const [mode, setMode] = useState<'shown' | 'renaming' | 'asking'>('shown');
  // The button that has opened the form or the question gets the focus back.
  const [opener, setOpener] = useState<typeof mode>();
  const close = () => setMode('shown');
  const start = (next: typeof mode) => {
    onStart();
    setOpener(next);
    setMode(next);
  };
  const button = (label: string, next: typeof mode) => (
    <button
      type="button"
      className="secondary small"
      aria-label={`${label}: ${passkey.name}`}
      autoFocus={opener === next}
      onClick={() => start(next)}
    >
      {label}
    </button>
  );
  return (
    <Entry
      icon={<Key />}
      name={<span>{passkey.name}</span>}
      badge={<span className="badge">{passkey.backedUp ? texts.synced : texts.local}</span>}
      facts={[
        <Time text={texts.since} at={passkey.createdAt} />,
        passkey.lastUsedAt === null ? texts.unused : <Time text={texts.used} at={passkey.lastUsedAt} />,
      ]}
      action={
        mode === 'shown' && (
          <div className="entry-action row">
            {button(texts.rename, 'renaming')}
            {button(texts.remove, 'asking')}
          </div>
        )
      }
      more={
        mode === 'renaming' ? (
          <Rename passkey={passkey} onDone={onDone} onClose={close} />
        ) : mode === 'asking' ? (
          <Remove passkey={passkey} onDone={onDone} onClose={close} />
        ) : undefined
      }
    />
  );
}

interface ActionProps {
  readonly passkey: Passkey;
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}

function Rename({ passkey, onDone, onClose }: ActionProps): ReactNode {
  const { t } = useSpeech();
  const { passkeys: texts } = t.account;
  const [name, setName] = useState(passkey.name);
  useAskBeforeLeaving(name.trim() !== passkey.name, useTexts().unsaved);
  const [checked, setChecked] = useState(false);
  const rename = useTask(async () => {
    await auth.renamePasskey(passkey.id, name.trim());
    onDone(texts.renamed);
    onClose();
  });
  const submit = () => {
    setChecked(true);
    if (name.trim() !== '') void rename.run();
  };
  return (
    <Form busy={rename.busy} onSubmit={submit}>
      <Failure error={rename.error} />
      <PasskeyName name={name} onChange={setName} checked={checked} />
      <FormActions label={texts.save} busy={rename.busy} busyLabel={t.reset.busy} onCancel={onClose} />
    </Form>
  );
}

/** Asks first. A passkey that has already been removed elsewhere counts as removed. */
function Remove({ passkey, onDone, onClose }: ActionProps): ReactNode {
  const { t } = useSpeech();
  const { passkeys: texts } = t.account;
  const remove = useTask(async () => {
    try {
      await auth.withFreshLogin(() => auth.removePasskey(passkey.id));
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'USER_404001')) throw error;
    }
    onDone(texts.removed);
  });
  return (
    <>
      <p role="status">{fill(texts.ask, { name: passkey.name })}</p>
      <Failure error={remove.error} />
      <ConfirmActions label={texts.remove} busy={remove.busy} onConfirm={() => void remove.run()} onCancel={onClose} />
    </>
  );
}
