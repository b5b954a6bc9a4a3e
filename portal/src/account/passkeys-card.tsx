import { type ReactNode, useEffect, useState } from 'react';
import type { Passkey } from '@portal-auth/sdk';
import { auth } from '../auth';
import { Message } from '../components/message';
import { fill, useSpeech } from '../i18n/texts';
import { usePasskeySupport } from '../passkey-support';
import { AddPasskey } from './add-passkey';
import { Loaded } from './loaded';
import { focusPanel, Panel } from './panel';
import { PasskeyEntry } from './passkey-entry';
import { SignInAgain } from './sign-in-again';

const id = 'passkeys';
/** The service refuses more (docs/spec/extensions.md#b). */
const most = 20;

interface PasskeysCardProps {
  /** The name of a passkey that was made outside this card. */
  readonly added: string | undefined;
  readonly onAdded: () => void;
  /** The number of passkeys has changed. */
  readonly onChanged: () => void;
}

/** The passkeys of the user. The page shows this card only if the service offers passkeys. */
export function PasskeysCard(props: PasskeysCardProps): ReactNode {
  const { t } = useSpeech();
  const { passkeys: texts } = t.account;
  return (
    <Panel id={id} title={texts.title}>
      <p className="note">{texts.intro}</p>
      <Loaded load={() => auth.passkeys()}>
        {(passkeys, reload) => <Passkeys {...props} passkeys={passkeys} reload={reload} />}
      </Loaded>
    </Panel>
  );
}

interface PasskeysProps extends PasskeysCardProps {
  readonly passkeys: readonly Passkey[];
  readonly reload: () => Promise<boolean>;
}

function Passkeys({ passkeys, reload, added, onAdded, onChanged }: PasskeysProps): ReactNode {
  const { t } = useSpeech();
  const { passkeys: texts } = t.account;
  const [done, setDone] = useState<string>();
  const [stale, setStale] = useState(false);
  const finished = async (text: string) => {
    onChanged();
    await reload();
    setDone(text);
    focusPanel(id);
  };
  useEffect(() => {
    if (added === undefined) return;
    onAdded();
    void finished(fill(texts.added, { name: added }));
    // Only a new passkey is news, not another language.
  }, [added]);
  const onStale = () => {
    setStale(true);
    focusPanel(id);
  };
  const onStart = () => setDone(undefined);
  return (
    <>
      {done !== undefined && <Message kind="success">{done}</Message>}
      {stale && <SignInAgain card={id} />}
      {passkeys.length === 0 ? (
        <p>{texts.none}</p>
      ) : (
        <ul className="entries">
          {passkeys.map((one) => (
            <PasskeyEntry
              key={one.id}
              passkey={one}
              onStart={onStart}
              onDone={(text) => void finished(text)}
              onStale={onStale}
            />
          ))}
        </ul>
      )}
      {!stale && (
        <Adding
          full={passkeys.length >= most}
          onStart={onStart}
          onAdded={(name) => {
            onAdded();
            void finished(fill(texts.added, { name }));
          }}
          onStale={onStale}
        />
      )}
    </>
  );
}

interface AddingProps {
  readonly full: boolean;
  readonly onStart: () => void;
  readonly onAdded: (name: string) => void;
  readonly onStale: () => void;
}

/** The button that adds a passkey, or why there is none. */
function Adding({ full, onStart, onAdded, onStale }: AddingProps): ReactNode {
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
        onStale={onStale}
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
