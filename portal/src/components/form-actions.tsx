import type { ReactNode } from 'react';
import { useSpeech } from '../i18n/texts';
import { Submit } from './submit';

interface FormActionsProps {
  readonly label: string;
  readonly busy: boolean;
  readonly busyLabel: string;
  readonly onCancel: () => void;
}

/** The end of a form that can be left. */
export function FormActions({ label, busy, busyLabel, onCancel }: FormActionsProps): ReactNode {
  return (
    <div className="actions start">
      <Submit label={label} busy={busy} busyLabel={busyLabel} />
      <Cancel onClick={onCancel} />
    </div>
  );
}

interface ConfirmActionsProps {
  readonly label: string;
  readonly busy: boolean;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

/** The answers to a question that is asked before something is done. */
export function ConfirmActions({ label, busy, onConfirm, onCancel }: ConfirmActionsProps): ReactNode {
  return (
    <div className="actions start">
      <button type="button" className="primary" aria-busy={busy} onClick={onConfirm} autoFocus>
        {label}
      </button>
      <Cancel onClick={onCancel} />
    </div>
  );
}

function Cancel({ onClick }: { readonly onClick: () => void }): ReactNode {
  const { t } = useSpeech();
  return (
    <button type="button" className="secondary" onClick={onClick}>
      {t.account.cancel}
    </button>
  );
}
