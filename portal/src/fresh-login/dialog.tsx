import { type ComponentProps, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { ConfirmationCode } from '@portal-auth/sdk';
import { useSpeech } from '../i18n/texts';
import { CodeStep } from './code-step';
import type { FreshLoginProps } from './host';
import { PasswordStep } from './password-step';
import { ProviderStep } from './provider-step';
import '../styles/dialog.css';

/**
 * Asks who the user is, in place: the password or a passkey, and then a code where one is due. The native element holds
 * the focus inside, and closes with Escape.
 */
export function FreshLoginDialog({ onClose, ...asked }: FreshLoginProps): ReactNode {
  const { t } = useSpeech();
  const dialog = useRef<HTMLDialogElement>(null);
  const confirmed = useRef(false);
  const title = useId();
  const [code, setCode] = useState<ConfirmationCode>();
  const [ended, setEnded] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const done = (due?: ConfirmationCode) => {
    setEnded(false);
    setCode(due);
    if (due !== undefined) return;
    confirmed.current = true;
    dialog.current?.close();
  };
  return (
    <dialog ref={dialog} className="fresh-login" aria-labelledby={title} onClose={() => onClose(confirmed.current)}>
      <h2 id={title}>{t.fresh.title}</h2>
      {code === undefined ? (
        <First {...asked} ended={ended} onDone={done} />
      ) : (
        <CodeStep
          code={code}
          loginName={asked.me.login_name}
          onDone={() => done()}
          onEnd={() => {
            setCode(undefined);
            setEnded(true);
          }}
        />
      )}
      <button type="button" className="secondary" onClick={() => dialog.current?.close()}>
        {t.account.cancel}
      </button>
    </dialog>
  );
}

type FirstProps = ComponentProps<typeof PasswordStep>;

/** Users of an identity provider have no password here. */
function First(props: FirstProps): ReactNode {
  const { identity_provider: id, identity_provider_name: name } = props.me;
  return id == null ? <PasswordStep {...props} /> : <ProviderStep {...props} provider={{ id, name: name ?? id }} />;
}
