import type { ReactNode } from 'react';
import { useSpeech } from '../i18n/texts';
import type { Task } from '../use-task';
import { Key } from './icons';
import { PasskeyFailure } from './passkey-failure';

/** The button below the form of the login page. It stays enabled during the prompt, so that it keeps the focus. */
export function PasskeyLogin({ login }: { readonly login: Task<[]> }): ReactNode {
  const { t } = useSpeech();
  return (
    <>
      <PasskeyFailure error={login.error} cancelled={t.passkeyProblems.cancelled} />
      <button type="button" className="secondary with-icon" aria-busy={login.busy} onClick={() => void login.run()}>
        <Key />
        {login.busy ? t.login.passkeyBusy : t.login.passkey}
      </button>
    </>
  );
}
