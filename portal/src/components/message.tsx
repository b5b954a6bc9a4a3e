import type { ReactNode } from 'react';
import { failureText } from '../i18n/failure-text';
import { useSpeech } from '../i18n/texts';
import { Check, Info, Warning } from './icons';

/** An error is read out at once, everything else when there is a pause. */
export function Message({
  kind,
  children,
}: {
  readonly kind: 'error' | 'info' | 'success';
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className={`message ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {kind === 'error' ? <Warning /> : kind === 'info' ? <Info /> : <Check />}
      <div>{children}</div>
    </div>
  );
}

/** Nothing when there was no error. */
export function Failure({ error }: { readonly error: unknown }): ReactNode {
  const { t } = useSpeech();
  return error === undefined ? null : <Message kind="error">{failureText(t, error)}</Message>;
}
