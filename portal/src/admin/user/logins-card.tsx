import type { ReactNode } from 'react';
import type { AdminUserDetail, AdminUserLogin } from '@portal-auth/sdk/admin';
import { deviceName } from '../../account/device-name';
import { useSpeech } from '../../i18n/texts';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { OutcomeBadge } from '../parts/badges';
import { Card } from '../parts/card';
import { At, Ip } from '../parts/facts';
import { List } from '../parts/list';
import type { Column } from '../parts/table';
import { hrefOf } from '../place';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';

const shown = 5;

/** The newest sign-ins, and the ways to the whole logs about this user. */
export function LoginsCard({ user }: { readonly user: AdminUserDetail }): ReactNode {
  const { t } = useSpeech();
  const { user: texts, logs, logins } = useTexts();
  const { role } = useViewer();
  const rows = useRows(admin.userLogins(user.uid), user.uid, shown);
  const columns: Column<AdminUserLogin>[] = [
    { heading: logs.time, cell: (row) => <At at={row.created_at} />, kind: 'main' },
    { heading: logins.outcome, cell: (row) => <OutcomeBadge outcome={row.outcome} /> },
    { heading: logs.ip, cell: (row) => <Ip ip={row.ip} /> },
    { heading: logs.device, cell: (row) => deviceName(row.user_agent, t) },
  ];
  return (
    <Card title={texts.logins}>
      <List
        of={rows}
        caption={texts.logins}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<p className="note">{texts.noLogins}</p>}
      />
      {role !== 'help_desk' && (
        <p className="links">
          <a href={hrefOf('/logins', { user_id: user.uid })}>{texts.allLogins}</a>
          <a href={hrefOf('/audit', { user_id: user.uid })}>{texts.auditAbout}</a>
          {(user.is_admin || user.role != null) && (
            <a href={hrefOf('/audit', { actor_id: user.uid })}>{user.is_admin ? texts.auditBy : texts.roles.auditBy}</a>
          )}
        </p>
      )}
    </Card>
  );
}
