import type { ReactNode } from 'react';
import { fill } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { At } from '../parts/facts';
import { ErrorState, LoadingState } from '../parts/states';
import { type Column, Table } from '../parts/table';
import type { Rows } from '../use-loaded';
import type { AdminLogout } from './told-applications';

/** The badge of each status. */
export const looks = { told: 'good', waiting: 'warn', failed: 'bad', not_offered: 'plain' } as const;

interface Ended {
  readonly sid: string;
  readonly at: string;
  readonly rows: readonly AdminLogout[];
}

/** The rows of each session together, in the order of the newest row. */
function bySession(rows: readonly AdminLogout[]): readonly Ended[] {
  const sessions = new Map<string, AdminLogout[]>();
  for (const row of rows) sessions.set(row.sid, [...(sessions.get(row.sid) ?? []), row]);
  return [...sessions].map(([sid, of]) => ({ sid, at: of.at(-1)!.created_at, rows: of }));
}

interface LogoutsProps {
  readonly of: Rows<AdminLogout>;
  readonly empty: ReactNode;
  /** Above each session: `h2` where the list is the page. */
  readonly heading: 'h2' | 'h3';
  /** At most so many sessions. */
  readonly most?: number;
}

/** Per session: which application was told of its end, when, how often it was tried, and what it answered. */
export function Logouts({
  of: { rows, error, loading, more, reload },
  empty,
  most,
  heading: Heading,
}: LogoutsProps): ReactNode {
  const { receipt: texts, list, users, mails } = useTexts();
  if (rows === undefined)
    return error === undefined ? <LoadingState lines={3} /> : <ErrorState error={error} retry={reload} />;
  const columns: Column<AdminLogout>[] = [
    { heading: texts.application, cell: ({ application }) => application.name ?? texts.deleted, kind: 'main' },
    {
      heading: users.columns.status,
      cell: ({ status }) => <span className={`badge ${looks[status]}`}>{texts.statuses[status]}</span>,
    },
    { heading: texts.answer, cell: ({ answer }) => <Answer answer={answer} /> },
    { heading: texts.answered, cell: ({ answered_at: at }) => (at === null ? '–' : <At at={at} exact />) },
    { heading: mails.attempts, cell: ({ attempts }) => attempts, kind: 'number' },
  ];
  return (
    <>
      {rows.length === 0 && empty}
      {bySession(rows)
        .slice(0, most)
        .map(({ sid, at, rows: told }) => (
          <section
            key={sid}
            className={most === undefined ? 'box ended-session' : 'ended-session'}
            aria-label={fill(texts.session, { sid: sid.slice(0, 8) })}
          >
            <Heading title={sid}>{fill(texts.session, { sid: sid.slice(0, 8) })}</Heading>
            <p className="note">
              {texts.ended} <At at={at} exact />
            </p>
            <Table
              caption={fill(texts.caption, { sid: sid.slice(0, 8) })}
              columns={columns}
              rows={told}
              keyOf={({ id }) => id}
              busy={loading}
            />
          </section>
        ))}
      <ErrorState error={error} retry={more ?? reload} />
      {most === undefined && more !== undefined && error === undefined && (
        <div className="more">
          <button type="button" className="secondary" disabled={loading} onClick={more}>
            {list.more}
          </button>
          <span className="note">{fill(list.shown, { count: rows.length })}</span>
        </div>
      )}
    </>
  );
}

/** A status of HTTP, or a word for what happened instead of an answer. A word without a text is shown itself. */
export function Answer({ answer }: { readonly answer: string | null }): ReactNode {
  const { receipt: texts } = useTexts();
  if (answer === null) return texts.none;
  return (texts.answers as Readonly<Record<string, string>>)[answer] ?? answer.replace(/^status (?=\d+$)/, '');
}
