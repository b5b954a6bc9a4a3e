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
  /** For a spreadsheet. Without it one JSON object per line. */
  readonly format?: 'csv';
}

/** Downloads every row that the filters find. */
export function ExportButton({ list, name, format }: ExportButtonProps): ReactNode {
  const { logs } = useTexts();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const task = useTask(async () => {
    const { signal } = (stop.current = new AbortController());
    try {
      const day = new Date().toISOString().slice(0, 10);
      saveFile(
        `${name}-${day}.${format ?? 'ndjson'}`,
        await (format === undefined ? list.file({ signal }) : list.spreadsheet({ signal })),
      );
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
        {task.busy ? logs.stopExport : format === undefined ? logs.export : logs.csv}
      </button>
      <Failure error={task.error} />
    </>
  );
}
