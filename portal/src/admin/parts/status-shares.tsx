import type { ReactNode } from 'react';
import { fill, useSpeech } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { hrefOf } from '../place';
import { type Status, statuses } from './badges';

/** How many users have each status, as one bar and as a list. */
export function StatusShares({ users }: { readonly users: Readonly<Record<string, number>> }): ReactNode {
  const { language } = useSpeech();
  const { users: texts, overview } = useTexts();
  const rows = statuses.map((status) => ({ status, count: users[keys[status]] ?? users[status] ?? 0 }));
  const all = rows.reduce((sum, { count }) => sum + count, 0);
  let x = 0;
  return (
    <div className="shares">
      <svg viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
        {rows.map(({ status, count }) => {
          const width = all === 0 ? 0 : (count / all) * 100;
          x += width;
          return (
            <rect key={status} className={`share ${marks[status]}`} x={x - width} width={width} y="0" height="3" />
          );
        })}
      </svg>
      <ul>
        {rows.map(({ status, count }) => (
          <li key={status}>
            <span className={`mark ${marks[status]}`} aria-hidden="true" />
            <a href={hrefOf('/users', { status })}>{texts.status[status]}</a>
            <b>{new Intl.NumberFormat(language).format(count)}</b>
          </li>
        ))}
      </ul>
      {users.deleted !== undefined && users.deleted > 0 && (
        <p className="note">
          {fill(overview.deleted, { count: new Intl.NumberFormat(language).format(users.deleted) })}
        </p>
      )}
    </div>
  );
}

const keys: Readonly<Record<Status, string>> = { 1: 'enabled', 0: 'not_enabled', '-1': 'disabled', '-2': 'expired' };
const marks: Readonly<Record<Status, string>> = { 1: 'enabled', 0: 'not-enabled', '-1': 'disabled', '-2': 'expired' };
