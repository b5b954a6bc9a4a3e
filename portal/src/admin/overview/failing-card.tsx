import type { ReactNode } from 'react';
import type { AdminOverview } from '@portal-auth/sdk/admin';
import { useSpeech } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { type Column, Table } from '../parts/table';
import { hrefOf } from '../place';

type Failing = AdminOverview['failing'];

/** The names and the addresses with the most refused passwords, and the way to their rows. */
export function FailingCard({ failing }: { readonly failing: Failing }): ReactNode {
  const { language } = useSpeech();
  const { overview: texts, logs, logins } = useTexts();
  const number = new Intl.NumberFormat(language);
  const failures = { heading: texts.failures, kind: 'number' as const };
  const names: Column<Failing['names'][number]>[] = [
    {
      heading: texts.name,
      cell: ({ login_name: name, user_id: user }) => (
        <span className="badges">
          <a href={hrefOf('/logins', { ...(user === null ? { user: name } : { user_id: user }), outcome: 'failed' })}>
            <bdi>{name === '' ? '–' : name}</bdi>
          </a>
          {user === null && <span className="badge plain">{logins.noAccount}</span>}
        </span>
      ),
      kind: 'main',
    },
    { ...failures, cell: ({ failures: count }) => number.format(count) },
  ];
  const addresses: Column<Failing['addresses'][number]>[] = [
    {
      heading: logs.ip,
      cell: ({ ip }) => <a href={hrefOf('/logins', { ip, outcome: 'failed' })}>{ip}</a>,
      kind: 'main',
    },
    { heading: texts.names, cell: ({ names: count }) => number.format(count), kind: 'number' },
    { ...failures, cell: ({ failures: count }) => number.format(count) },
  ];
  if (failing.names.length + failing.addresses.length === 0)
    return (
      <Card title={texts.failing}>
        <p className="note">{texts.nobodyFails}</p>
      </Card>
    );
  return (
    <Card title={texts.failing} note={texts.failingNote}>
      <div className="pair">
        {failing.names.length > 0 && (
          <Table
            caption={texts.failingNames}
            columns={names}
            rows={failing.names}
            keyOf={({ user_id: user, login_name: name }) => user ?? `name ${name}`}
          />
        )}
        {failing.addresses.length > 0 && (
          <Table caption={texts.failingAddresses} columns={addresses} rows={failing.addresses} keyOf={({ ip }) => ip} />
        )}
      </div>
    </Card>
  );
}
