import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ConfirmationCode } from '@portal-auth/sdk';
import { auth } from '../auth';
import { Failure, Message } from '../components/message';
import { TextsProvider, useTexts } from '../external/i18n/texts';
import { useRefusal } from '../external/refusal';
import { askInWindow, BlockedError } from '../external/window';
import { fill } from '../i18n/texts';
import type { FreshLoginProps } from './host';
import { PasskeyWay, usePasskey } from './passkey-way';

interface ProviderStepProps extends Omit<FreshLoginProps, 'onClose'> {
  /** Where the user signs in. */
  readonly provider: { readonly id: string; readonly name: string };
  /** The codes of the confirmation before this one are used up. */
  readonly ended: boolean;
  readonly onDone: (code?: ConfirmationCode) => void;
}

/** Users of an identity provider sign in there once more, in a window of its own, so that this page stays as it is. */
export function ProviderStep(props: ProviderStepProps): ReactNode {
  return (
    <TextsProvider>
      <Step {...props} />
    </TextsProvider>
  );
}

function Step({ provider: { id, name }, secondFactor, passkey, reason, ended, onDone }: ProviderStepProps): ReactNode {
  const { fresh: texts } = useTexts();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const window = useWindow(id, onDone);
  const byPasskey = usePasskey(onDone);
  return (
    <>
      <p className="note">{secondFactor ? fill(texts.factor, { name }) : (reason ?? fill(texts.intro, { name }))}</p>
      {ended && window.error === undefined && <Message kind="warning">{texts.ended}</Message>}
      <WindowFailure error={window.error} />
      {window.waiting && (
        <p role="status" className="note">
          {fill(texts.waiting, { name })}
        </p>
      )}
      <button
        ref={button}
        type="button"
        className={window.waiting ? 'secondary' : 'primary'}
        onClick={() => {
          byPasskey.reset();
          void window.open();
        }}
      >
        <span className="provider-name">{window.waiting ? texts.again : fill(texts.open, { name })}</span>
      </button>
      {passkey && <PasskeyWay task={byPasskey} onStart={window.stop} />}
    </>
  );
}

/** The sign-in in the other window. The user may have closed that window, and open another one. */
function useWindow(id: string, onDone: (code?: ConfirmationCode) => void) {
  const running = useRef<AbortController>(undefined);
  const [state, setState] = useState<{ waiting: boolean; error: unknown }>({ waiting: false, error: undefined });
  useEffect(() => () => running.current?.abort(), []);
  const stop = () => {
    running.current?.abort();
    setState({ waiting: false, error: undefined });
  };
  const open = async () => {
    stop();
    const { signal } = (running.current = new AbortController());
    const end = (error: unknown) => signal.aborted || setState({ waiting: false, error });
    setState({ waiting: true, error: undefined });
    try {
      const answer = await askInWindow(() => auth.signInWith(id, { fresh: true }), signal);
      if (answer.kind === 'refused') return end(answer.error);
      const due = await auth.reauthenticate({ external: answer.code });
      if (!signal.aborted) onDone(due);
    } catch (error) {
      end(error);
    }
  };
  return { ...state, open, stop };
}

/** @param error a failure, or the error code with which the provider has sent the user back */
function WindowFailure({ error }: { readonly error: unknown }): ReactNode {
  const { fresh: texts } = useTexts();
  const text = useRefusal(error);
  if (error instanceof BlockedError) return <Message kind="error">{texts.blocked}</Message>;
  if (text !== undefined) return <Message kind="error">{text}</Message>;
  return <Failure error={error} />;
}
