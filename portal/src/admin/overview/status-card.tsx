import { type ReactNode, useState } from 'react';
import type { AdminChecks, AdminOverview } from '@portal-auth/sdk/admin';
import { fill } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { usePageAction } from '../page-actions';
import { Card } from '../parts/card';
import { At } from '../parts/facts';
import { hrefOf, identityProviderHref } from '../place';
import { useViewer } from '../viewer';
import { Connections } from './connections';
import { type Check, findingsOf } from './findings';

/** Where an administrator looks further. The clock has no page. */
const places: Readonly<Partial<Record<Check, string>>> = {
  mails: hrefOf('/mails', { status: 'dead' }),
  events: hrefOf('/events', { status: 'dead' }),
  receivers: hrefOf('/event-receivers'),
  secrets: hrefOf('/identity-providers'),
  guesses: hrefOf('/logins', { outcome: 'failed' }),
  locked: hrefOf('/users', { locked: 'true' }),
};

/** Is everything all right? One line for each check, in words; what is not well comes first. */
export function StatusCard({ overview }: { readonly overview: AdminOverview }): ReactNode {
  const { overview: texts, connections } = useTexts();
  const { root, writes } = useViewer();
  const [report, setReport] = useState<AdminChecks>();
  const check = useTask(async () => setReport(await admin.runChecks()));
  const may = root && writes;
  usePageAction(connections.check, may ? () => void check.run() : undefined);
  const findings = [...findingsOf(overview)].sort((a, b) => Number(a.well) - Number(b.well));
  const open = findings.filter(({ well }) => !well).length;
  return (
    <Card
      title={open === 0 ? texts.allWell : fill(texts.toLookAt, { count: open })}
      action={
        may && (
          <button
            type="button"
            className="secondary small"
            disabled={check.busy}
            aria-busy={check.busy}
            onClick={() => void check.run()}
          >
            {check.busy ? connections.busy : connections.check}
          </button>
        )
      }
    >
      <ul className="findings">
        {findings.map(({ check, well }) => (
          <li key={check} className={well ? 'well' : 'open'}>
            <span className="finding-mark" aria-hidden="true">
              {well ? '✓' : '!'}
            </span>
            <span>
              <Said check={check} well={well} overview={overview} />
              {check === 'secrets' && <Secrets overview={overview} />}
            </span>
          </li>
        ))}
      </ul>
      {may && <Connections task={check} report={report} />}
    </Card>
  );
}

interface SaidProps {
  readonly check: Check;
  readonly well: boolean;
  readonly overview: AdminOverview;
}

function Said({ check, well, overview }: SaidProps): ReactNode {
  const { overview: texts } = useTexts();
  const { mails, events, event_receivers: receivers, locked } = overview;
  const backlog = check === 'mails' ? mails : events;
  const text = fill((well ? texts.well : texts.open)[check], {
    waiting: backlog?.waiting ?? 0,
    dead: backlog?.dead ?? 0,
    count: locked,
    names: receivers?.failing.join(', ') ?? '',
  });
  const place = places[check];
  return well || place === undefined ? text : <a href={place}>{text}</a>;
}

function Secrets({ overview: { ending_secrets: secrets } }: { readonly overview: AdminOverview }): ReactNode {
  if (secrets === null || secrets.length === 0) return null;
  return (
    <ul className="lines">
      {secrets.map(({ id, name, client_secret_expires: at }) => (
        <li key={id}>
          <a href={identityProviderHref(id)}>
            <bdi>{name}</bdi>
          </a>{' '}
          <At at={at} />
        </li>
      ))}
    </ul>
  );
}
