import { type ReactNode, useEffect, useState } from 'react';
import { Failure } from '../components/message';
import { useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';

interface LoadedProps<T> {
  readonly load: () => Promise<T>;
  /** Draws the value. `reload` fetches it again, and keeps the former value on the page meanwhile. */
  readonly children: (value: T, reload: () => Promise<boolean>) => ReactNode;
}

/** Shows that a value is loading, or why it did not load, with a button to try again. */
export function Loaded<T>({ load, children }: LoadedProps<T>): ReactNode {
  const { t } = useSpeech();
  const [value, setValue] = useState<{ readonly it: T }>();
  const task = useTask(async () => setValue({ it: await load() }));
  const { run } = task;
  useEffect(() => void run(), [run]);
  return (
    <>
      <Failure error={task.error} />
      {task.error !== undefined && (
        <button type="button" className="secondary small" onClick={() => void run()}>
          {t.account.retry}
        </button>
      )}
      {value !== undefined && children(value.it, run)}
      {value === undefined && task.error === undefined && (
        <p className="note" role="status">
          {t.account.loading}
        </p>
      )}
    </>
  );
}
