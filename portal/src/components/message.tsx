import type { ReactNode } from 'react';
import { failureText } from '../i18n/failure-text';
import { useSpeech } from '../i18n/texts';
import { Check, Info, Warning } from './icons';

/** A screen reader reads an error at once, and other messages at its next pause. */
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

/** Shows nothing when there is no error. */
export function Failure({ error }: { readonly error: unknown }): ReactNode {
  const { t } = useSpeech();
  return error === undefined ? null : <Message kind="error">{failureText(t, error)}</Message>;
}
