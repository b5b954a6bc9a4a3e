import { type ReactNode, useEffect, useRef } from 'react';
import type { ConfirmationCode } from '@portal-auth/sdk';
import { auth } from '../auth';
import { Key } from '../components/icons';
import { PasskeyFailure } from '../components/passkey-failure';
import { useSpeech } from '../i18n/texts';
import { type Task, useTask } from '../use-task';

/** The prompt of the browser ends with the dialog. */
export function usePasskey(onDone: (code?: ConfirmationCode) => void): Task<[]> {
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  return useTask(async () => {
    const { signal } = (running.current = new AbortController());
    onDone(await auth.reauthenticate({ passkey: true, signal }));
  });
}

interface PasskeyWayProps {
  readonly task: Task<[]>;
  /** Ends what the user has begun before. */
  readonly onStart: () => void;
}

export function PasskeyWay({ task, onStart }: PasskeyWayProps): ReactNode {
  const { t } = useSpeech();
  return (
    <>
      <PasskeyFailure error={task.error} cancelled={t.passkeyProblems.cancelled} />
      <button
        type="button"
        className="secondary with-icon"
        aria-busy={task.busy}
        onClick={() => {
          onStart();
          void task.run();
        }}
      >
        <Key />
        {task.busy ? t.login.passkeyBusy : t.fresh.passkey}
      </button>
    </>
  );
}
