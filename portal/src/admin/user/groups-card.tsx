import type { ReactNode } from 'react';
import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { useTexts } from '../i18n/texts';
import { OwnerBadge } from '../pages/groups-page';
import { Card } from '../parts/card';
import { groupHref } from '../place';
import { useViewer } from '../viewer';

/** The groups of the user, and who owns each. They are changed on their own pages. */
export function GroupsCard({ user }: { readonly user: AdminUserDetail }): ReactNode {
  const { groups: texts } = useTexts();
  const { role } = useViewer();
  return (
    <Card title={texts.title}>
      {user.groups.length === 0 ? (
        <p className="note">{texts.ofUser}</p>
      ) : (
        <ul className="found">
          {user.groups.map((group) => (
            <li key={group.id}>
              {role === 'help_desk' ? group.name : <a href={groupHref(group.id)}>{group.name}</a>}
              <OwnerBadge group={group} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
