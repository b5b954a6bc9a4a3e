import type { ReactNode } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { Failure } from '../components/message';
import { useTask } from '../use-task';

interface EndButtonProps {
  readonly label: string;
  /** Says which entry the button ends. All buttons of a list look the same. */
  readonly describes: string;
  readonly end: () => Promise<unknown>;
  readonly onEnded: () => void;
}

/**
 * Ends one session or one trusted device. An entry that had already ended elsewhere counts as ended. The button stays enabled
 * during the request, so that it keeps the focus when the request fails.
 */
export function EndButton({ label, describes, end, onEnded }: EndButtonProps): ReactNode {
  const task = useTask(async () => {
    await end().catch((error: unknown) => {
      if (!(error instanceof ServiceError && error.code === 'USER_404001')) throw error;
    });
    onEnded();
  });
  return (
    <div className="entry-action">
      <button
        type="button"
        className="secondary small"
        aria-label={`${label}: ${describes}`}
        aria-busy={task.busy}
        onClick={() => void task.run()}
      >
        {label}
      </button>
      <Failure error={task.error} />
    </div>
  );
}
