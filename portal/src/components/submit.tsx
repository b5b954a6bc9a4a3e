import type { ReactNode } from 'react';
import { fill } from '../i18n/texts';

interface SubmitProps {
  readonly label: string;
  readonly busy: boolean;
  readonly busyLabel: string;
  /** Seconds until the button is enabled. */
  readonly wait?: number;
  readonly waitLabel?: string;
}

/** A submit button that shows the remaining seconds of a wait in its label. */
export function Submit({ label, busy, busyLabel, wait = 0, waitLabel }: SubmitProps): ReactNode {
  const text = busy ? busyLabel : wait > 0 && waitLabel !== undefined ? fill(waitLabel, { seconds: wait }) : label;
  return (
    <button type="submit" className="primary" disabled={busy || wait > 0} aria-busy={busy}>
      {text}
    </button>
  );
}
