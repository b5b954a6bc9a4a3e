import { type ReactNode, useState } from 'react';
import type { Passkey } from '@portal-auth/sdk';
import { auth } from '../auth';
import { Message } from '../components/message';
import { fill, useSpeech } from '../i18n/texts';
import { usePasskeySupport } from '../passkey-support';
import { AddPasskey } from './add-passkey';
import { Loaded } from './loaded';
import { focusPanel, Panel } from './panel';
import { PasskeyEntry } from './passkey-entry';

const id = 'passkeys';
/** The service refuses more (docs/spec/extensions.md#b). */
const most = 20;

interface PasskeysCardProps {
  /** The number of passkeys has changed. */
  readonly onChanged: () => void;
}

/** The passkeys of the user. The page shows this card only if the service offers passkeys. */
export function PasskeysCard({ onChanged }: PasskeysCardProps): ReactNode {
  const { t } = useSpeech();
  const { passkeys: texts } = t.account;
  return (
    <Panel id={id} title={texts.title}>
      <p className="note">{texts.intro}</p>
      <Loaded load={() => auth.passkeys()}>
        {(passkeys, reload) => <Passkeys passkeys={passkeys} reload={reload} onChanged={onChanged} />}
      </Loaded>
    </Panel>
  );
}

interface PasskeysProps extends PasskeysCardProps {
  readonly passkeys: readonly Passkey[];
  readonly reload: () => Promise<boolean>;
}

function Passkeys({ passkeys, reload, onChanged }: PasskeysProps): ReactNode {
  const { t } = useSpeech();
  const { passkeys: texts } = t.account;
  const [done, setDone] = useState<string>();
  const finished = async (text: string) => {
    onChanged();
    await reload();
    setDone(text);
    focusPanel(id);
  };
  const onStart = () => setDone(undefined);
  return (
    <>
      {done !== undefined && <Message kind="success">{done}</Message>}
      {passkeys.length === 0 ? (
        <p>{texts.none}</p>
      ) : (
        <ul className="entries">
          {passkeys.map((one) => (
            <PasskeyEntry key={one.id} passkey={one} onStart={onStart} onDone={(text) => void finished(text)} />
          ))}
        </ul>
      )}
      <Adding
        full={passkeys.length >= most}
        onStart={onStart}
        onAdded={(name) => void finished(fill(texts.added, { name }))}
      />
    </>
  );
}

interface AddingProps {
  readonly full: boolean;
  readonly onStart: () => void;
  readonly onAdded: (name: string) => void;
}

/** The button that adds a passkey, or why there is none. */
function Adding({ full, onStart, onAdded }: AddingProps): ReactNode {
  const { t } = useSpeech();
  const { passkeys: texts } = t.account;
  const { passkeys: supported } = usePasskeySupport();
  const [open, setOpen] = useState(false);
  if (!supported) return <p className="note">{texts.unsupported}</p>;
  if (full) return <p className="note">{fill(texts.full, { count: most })}</p>;
  const close = () => {
    setOpen(false);
    focusPanel(id);
  };
  if (open)
    return (
      <AddPasskey
        onAdded={(name) => {
          setOpen(false);
          onAdded(name);
        }}
        onCancel={close}
      />
    );
  return (
    <button
      type="button"
      className="secondary"
      onClick={() => {
        onStart();
        setOpen(true);
      }}
    >
      {texts.add}
    </button>
  );
}
