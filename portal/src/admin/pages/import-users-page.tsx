import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { AdminImportReport } from '@portal-auth/sdk/admin';
import { ServiceError } from '@portal-auth/sdk';
import { Failure, Message } from '../../components/message';
import { saveFile } from '../../components/save-file';
import { fill } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { refusedRows } from '../bulk/refused-rows';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { KindBadges } from '../parts/badges';
import { Card } from '../parts/card';
import { PageHead } from '../parts/page-head';
import { type Column, Table } from '../parts/table';
import { hrefOf } from '../place';
import { useUnsaved } from '../unsaved';
import { useViewer } from '../viewer';

type Refusal = AdminImportReport['refused'][number];
type Planned = NonNullable<AdminImportReport['created_rows']>[number];

/** Rows of a table. The file of the refused rows has all of them. */
const shown = 100;

/** New users from a file: first the fate of every row, then the import. */
export function ImportUsersPage(): ReactNode {
  const { users, importing: texts } = useTexts();
  const { root } = useViewer();
  const id = useId();
  const [file, setFile] = useState<File>();
  const [checked, setChecked] = useState<AdminImportReport>();
  const [done, setDone] = useState<AdminImportReport>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const send = async (dryRun: boolean) => {
    const { signal } = (stop.current = new AbortController());
    return admin.importUsers(file ?? '', { dryRun, signal });
  };
  const check = useTask(async () => setChecked(await send(true)));
  const run = useTask(async () => setDone(await send(false)));
  const busy = check.busy || run.busy;
  useUnsaved(run.busy);
  const begin = (next: File | undefined) => {
    setFile(next);
    setChecked(undefined);
    setDone(undefined);
    check.reset();
    run.reset();
  };
  const error = check.error ?? run.error;
  const problem = error instanceof ServiceError ? error.fields.body?.[0] : undefined;
  return (
    <>
      <PageHead title={texts.title} up={{ href: hrefOf('/users'), text: users.title }} intro={texts.intro} />
      <div className="narrow">
        <Card title={texts.file} note={root ? texts.columns : texts.ownTenant}>
          <div className="field">
            <label htmlFor={id}>{texts.choose}</label>
            <input
              id={id}
              className="file"
              type="file"
              accept=".csv,text/csv"
              disabled={busy}
              onChange={(event) => begin(event.target.files?.[0])}
            />
          </div>
          <details>
            <summary>{texts.exampleTitle}</summary>
            <pre>{example}</pre>
          </details>
          <div className="actions start">
            <button
              type="button"
              className={checked === undefined ? 'primary' : 'secondary'}
              disabled={file === undefined || busy || done !== undefined}
              aria-busy={check.busy}
              onClick={() => void check.run()}
            >
              {check.busy ? texts.checking : texts.check}
            </button>
          </div>
        </Card>
        <Failure error={error} text={problem === undefined ? undefined : fill(texts.unreadable, { problem })} />
        {checked !== undefined && done === undefined && (
          <Card title={texts.preview}>
            <p role="status">{fill(texts.fate, countsOf(checked))}</p>
            <CreatedTable planned={checked.created_rows ?? []} count={checked.created} />
            <RefusedTable refused={checked.refused} />
            <div className="actions start">
              <button
                type="button"
                className="primary"
                disabled={checked.created === 0 || busy}
                aria-busy={run.busy}
                onClick={() => void run.run()}
              >
                {run.busy ? texts.importing : fill(texts.import, { count: checked.created })}
              </button>
              {run.busy && <p className="note">{texts.stay}</p>}
            </div>
          </Card>
        )}
        {done !== undefined && (
          <Card title={texts.result}>
            <Message kind={done.created > 0 ? 'success' : 'info'} focused>
              {fill(texts.done, countsOf(done))}
            </Message>
            <RefusedTable refused={done.refused} />
            <div className="actions start">
              <a className="primary" href={hrefOf('/users')}>
                {texts.toUsers}
              </a>
            </div>
          </Card>
        )}
      </div>
    </>
  );
}

const countsOf = ({ rows, created, refused }: AdminImportReport) => ({ rows, created, refused: refused.length });

const example = `login_name,email,nickname,org_unit_id
ada,ada@example.com,Ada Lovelace,
ben,ben@example.com,"Müller, Ben",sales`;

/** The users that the import would make. @param count of all of them */
function CreatedTable({ planned, count }: { readonly planned: readonly Planned[]; readonly count: number }): ReactNode {
  const { users, importing: texts } = useTexts();
  if (planned.length === 0) return null;
  const columns: Column<Planned>[] = [
    { heading: texts.line, cell: ({ line }) => line, kind: 'number' },
    { heading: users.fields.loginName, cell: ({ login_name: name }) => name, kind: 'main' },
    { heading: users.fields.email, cell: ({ email }) => email },
    {
      heading: texts.place,
      cell: (user) => (
        <span className="badges">
          <span>{user.tenant_id}</span>
          <KindBadges user={user} />
        </span>
      ),
    },
  ];
  const rows = planned.slice(0, shown);
  return (
    <>
      <Table caption={texts.created} columns={columns} rows={rows} keyOf={({ line }) => String(line)} />
      {count > rows.length && <p className="note">{fill(texts.unseen, { count: count - rows.length })}</p>}
    </>
  );
}

function RefusedTable({ refused }: { readonly refused: readonly Refusal[] }): ReactNode {
  const { importing: texts } = useTexts();
  if (refused.length === 0) return null;
  const columns: Column<Refusal>[] = [
    { heading: texts.line, cell: ({ line }) => line, kind: 'number' },
    {
      heading: texts.why,
      cell: ({ error_code: code, reason }) => (texts.reasons as Record<string, string>)[code] ?? reason,
      kind: 'main',
    },
  ];
  const save = () => saveFile('refused-rows.csv', new Blob([refusedRows(refused)], { type: 'text/csv' }));
  return (
    <>
      <Table
        caption={texts.refused}
        columns={columns}
        rows={refused.slice(0, shown)}
        keyOf={({ line }) => String(line)}
      />
      {refused.length > shown && <p className="note">{fill(texts.more, { count: refused.length - shown })}</p>}
      <div className="actions start">
        <button type="button" className="secondary small" onClick={save}>
          {texts.save}
        </button>
      </div>
    </>
  );
}
