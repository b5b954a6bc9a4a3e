import { type ReactNode, useEffect, useRef } from 'react';
import type { Pages } from '@portal-auth/sdk/admin';
import { Failure } from '../../components/message';
import { saveFile } from '../../components/save-file';
import { useTask } from '../../use-task';
import { useTexts } from '../i18n/texts';
import { Download } from './icons';

interface ExportButtonProps {
  readonly list: Pages<unknown>;
  /** The start of the name of the file. */
  readonly name: string;
}

/** Downloads every row that the filters find, one JSON object per line. */
export function ExportButton({ list, name }: ExportButtonProps): ReactNode {
  const { logs } = useTexts();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const task = useTask(async () => {
    const { signal } = (stop.current = new AbortController());
    try {
      saveFile(`${name}-${new Date().toISOString().slice(0, 10)}.ndjson`, await list.file({ signal }));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  });
  return (
    <>
      <button
        type="button"
        className="secondary small"
        onClick={() => (task.busy ? stop.current?.abort() : void task.run())}
      >
        <Download />
        {task.busy ? logs.stopExport : logs.export}
      </button>
      <Failure error={task.error} />
    </>
  );
}
