import type { ReactNode } from 'react';
import { useSpeech } from '../../i18n/texts';
import { latestOverview } from '../first-overview';
import { useTexts } from '../i18n/texts';
import { AdoptionCard } from '../overview/adoption-card';
import { ChangesCard } from '../overview/changes-card';
import { FailingCard } from '../overview/failing-card';
import { StatusCard } from '../overview/status-card';
import { Card } from '../parts/card';
import { LoginsChart } from '../parts/chart';
import { Refresh } from '../parts/icons';
import { PageHead } from '../parts/page-head';
import { ErrorState, LoadingState } from '../parts/states';
import { StatusShares } from '../parts/status-shares';
import { hrefOf } from '../place';
import { useLoaded } from '../use-loaded';

export function OverviewPage(): ReactNode {
  const { overview: texts } = useTexts();
  const { value, error, loading, reload } = useLoaded(latestOverview);
  return (
    <>
      <PageHead title={texts.title}>
        <button type="button" className="secondary small" disabled={loading} onClick={reload}>
          <Refresh />
          {texts.refresh}
        </button>
      </PageHead>
      <ErrorState error={error} retry={reload} />
      {value === undefined && error === undefined && <LoadingState lines={6} />}
      {value !== undefined && (
        <div className="overview" aria-busy={loading}>
          <StatusCard overview={value} />
          <ul className="figures">
            <Figure
              name={texts.logins}
              value={sum(value.hours.map(({ logins }) => logins))}
              note={texts.lastDay}
              href={hrefOf('/logins', { outcome: 'success' })}
            />
            <Figure
              name={texts.failures}
              value={sum(value.hours.map(({ failures }) => failures))}
              note={texts.lastDay}
              href={hrefOf('/logins', { outcome: 'failed' })}
            />
            <Figure
              name={texts.locked}
              value={value.locked}
              note={texts.now}
              href={hrefOf('/users', { locked: 'true' })}
              warn={value.locked > 0}
            />
            {value.mails !== null && (
              <Figure
                name={texts.mails}
                value={value.mails.waiting}
                note={texts.waiting}
                href={hrefOf('/mails', { status: 'waiting' })}
              />
            )}
            {value.mails !== null && (
              <Figure
                name={texts.deadMails}
                value={value.mails.dead}
                note={texts.dead}
                href={hrefOf('/mails', { status: 'dead' })}
                warn={value.mails.dead > 0}
              />
            )}
            {value.events !== null && value.events.waiting + value.events.dead > 0 && (
              <Figure name={texts.events} value={value.events.waiting} note={texts.waiting} />
            )}
            {value.events !== null && value.events.dead > 0 && (
              <Figure name={texts.deadEvents} value={value.events.dead} note={texts.dead} warn />
            )}
          </ul>
          <Card title={texts.chart}>
            <LoginsChart hours={value.hours} />
          </Card>
          <div className="pair">
            <FailingCard failing={value.failing} />
            <AdoptionCard adoption={value.adoption} />
          </div>
          <ChangesCard changes={value.changes} />
          <Card title={texts.users}>
            <StatusShares users={value.users} />
          </Card>
        </div>
      )}
    </>
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

interface FigureProps {
  readonly name: string;
  readonly value: number;
  readonly note: string;
  readonly href?: string;
  readonly warn?: boolean;
}

function Figure({ name, value, note, href, warn = false }: FigureProps): ReactNode {
  const { language } = useSpeech();
  return (
    <li className={warn ? 'figure warn' : 'figure'}>
      <p className="figure-name">{href === undefined ? name : <a href={href}>{name}</a>}</p>
      <p className="figure-value">{new Intl.NumberFormat(language).format(value)}</p>
      <p className="note">{note}</p>
    </li>
  );
}
