import type { ReactNode } from 'react';
import type { AdminOverview } from '@portal-auth/sdk/admin';
import { fill, useSpeech } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { type Column, Table } from '../parts/table';

interface Share {
  readonly name: string;
  readonly count: number;
  readonly look: string;
}

/** How many users have a second factor that nobody can ask them for. The bars are in the table that has the numbers. */
export function AdoptionCard({ adoption }: { readonly adoption: AdminOverview['adoption'] }): ReactNode {
  const { language } = useSpeech();
  const { overview: texts } = useTexts();
  const { users, authenticator, passkey, neither, sampled } = adoption;
  const share = (count: number): number => (users === 0 ? 0 : count / users);
  const percent = new Intl.NumberFormat(language, { style: 'percent' });
  const number = new Intl.NumberFormat(language);
  const columns: Column<Share>[] = [
    { heading: texts.factor, cell: ({ name }) => name, kind: 'main' },
    { heading: texts.share, cell: ({ count }) => percent.format(share(count)), kind: 'number' },
    { heading: texts.people, cell: ({ count }) => number.format(count), kind: 'number' },
    {
      heading: texts.bar,
      cell: ({ count, look }) => (
        <svg className="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
          <rect className={`share ${look}`} width={share(count) * 100} height="6" />
        </svg>
      ),
      kind: 'quiet',
    },
  ];
  return (
    <Card
      title={texts.adoption}
      note={fill(sampled ? texts.sample : texts.enabledUsers, { count: number.format(users) })}
    >
      <Table
        caption={texts.adoption}
        columns={columns}
        rows={[
          { name: texts.passkey, count: passkey, look: 'enabled' },
          { name: texts.authenticator, count: authenticator, look: 'enabled' },
          { name: texts.neither, count: neither, look: 'not-enabled' },
        ]}
        keyOf={({ name }) => name}
      />
    </Card>
  );
}
