import type { ReactNode } from 'react';
import type { AdminOverview } from '@portal-auth/sdk/admin';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { At } from '../parts/facts';
import { Sentence } from '../parts/sentence';
import { hrefOf } from '../place';

/** What administrators and operators did last. */
export function ChangesCard({ changes }: { readonly changes: AdminOverview['changes'] }): ReactNode {
  const { overview: texts } = useTexts();
  return (
    <Card title={texts.changes}>
      {changes.length === 0 ? (
        <p className="note">{texts.noChanges}</p>
      ) : (
        <ul className="changes">
          {changes.map((row) => (
            <li key={row.id}>
              <Sentence row={row} />
              <span className="note">
                <At at={row.created_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <p className="links">
        <a href={hrefOf('/audit')}>{texts.allChanges}</a>
      </p>
    </Card>
  );
}
