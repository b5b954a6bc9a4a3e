import type { ReactNode } from 'react';
import { fill } from '../i18n/texts';

interface SubmitProps {
  readonly label: string;
  readonly busy: boolean;
  readonly busyLabel: string;
  /** Seconds until it may be pressed. */
  readonly wait?: number;
  readonly waitLabel?: string;
}

/** Counts down in its own label while it has to wait; the browser takes a disabled button out of the tab order by itself. */
export function Submit({ label, busy, busyLabel, wait = 0, waitLabel }: SubmitProps): ReactNode {
  const text = busy ? busyLabel : wait > 0 && waitLabel !== undefined ? fill(waitLabel, { seconds: wait }) : label;
  return (
    <button type="submit" className="primary" disabled={busy || wait > 0} aria-busy={busy}>
      {text}
    </button>
  );
}
