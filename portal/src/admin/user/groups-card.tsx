import type { ReactNode } from 'react';
import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { fill } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { OwnerBadge } from '../pages/groups-page';
import { Card } from '../parts/card';
import { groupHref } from '../place';
import { useViewer } from '../viewer';

type Groups = AdminUserDetail['groups'];

/** More of them would push the other cards of the page far down. */
const shown = 10;

/** The groups of the user, and who owns each. They are changed on their own pages. */
export function GroupsCard({ user: { groups } }: { readonly user: AdminUserDetail }): ReactNode {
  const { bulk, groups: texts } = useTexts();
  const rest = groups.slice(shown);
  return (
    <Card title={texts.title}>
      {groups.length === 0 ? <p className="note">{texts.ofUser}</p> : <List groups={groups.slice(0, shown)} />}
      {rest.length > 0 && (
        <details className="more-facts">
          <summary>{fill(bulk.andMore, { count: rest.length })}</summary>
          <List groups={rest} />
        </details>
      )}
    </Card>
  );
}

function List({ groups }: { readonly groups: Groups }): ReactNode {
  const { role } = useViewer();
  return (
    <ul className="found">
      {groups.map((group) => (
        <li key={group.id}>
          {role === 'help_desk' ? group.name : <a href={groupHref(group.id)}>{group.name}</a>}
          <OwnerBadge group={group} />
        </li>
      ))}
    </ul>
  );
}
