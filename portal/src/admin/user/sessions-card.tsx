import type { ReactNode } from 'react';
import type { AdminSession, AdminUserDetail } from '@portal-auth/sdk/admin';
import { deviceName } from '../../account/device-name';
import { useSpeech } from '../../i18n/texts';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { At, Ip } from '../parts/facts';
import { List } from '../parts/list';
import type { Column } from '../parts/table';
import { useRows } from '../use-loaded';

const shown = 5;

export function SessionsCard({ user }: { readonly user: AdminUserDetail }): ReactNode {
  const { t } = useSpeech();
  const { user: texts, logs } = useTexts();
  const rows = useRows(admin.userSessions(user.uid), user.uid, shown);
  const columns: Column<AdminSession>[] = [
    {
      heading: logs.device,
      cell: (row) => <span title={row.user_agent ?? undefined}>{deviceName(row.user_agent, t)}</span>,
      kind: 'main',
    },
    { heading: texts.signedIn, cell: (row) => <At at={row.created_at} /> },
    { heading: texts.used, cell: (row) => <At at={row.last_used_at} /> },
    { heading: logs.ip, cell: (row) => <Ip ip={row.ip} /> },
  ];
  return (
    <Card title={texts.sessions}>
      <List
        of={rows}
        caption={texts.sessions}
        columns={columns}
        keyOf={({ sid }) => sid}
        empty={<p className="note">{texts.noSessions}</p>}
      />
    </Card>
  );
}
