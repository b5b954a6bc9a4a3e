import { type ReactNode, useState } from 'react';
import type { AdminSession, AdminUserDetail } from '@portal-auth/sdk/admin';
import { deviceName } from '../../account/device-name';
import { fill, useSpeech } from '../../i18n/texts';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { Dialog } from '../parts/dialog';
import { At, Ip } from '../parts/facts';
import { List } from '../parts/list';
import { RowButton, type RowButtonProps } from '../parts/row-button';
import type { Column } from '../parts/table';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';

const shown = 5;

interface SessionsCardProps {
  readonly user: AdminUserDetail;
  readonly onDone: (text: string) => void;
}

/** The open sessions of the user, each of which can be ended. */
export function SessionsCard({ user, onDone }: SessionsCardProps): ReactNode {
  const { t } = useSpeech();
  const { user: texts, logs, places } = useTexts();
  const [asking, setAsking] = useState<AdminSession>();
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
    {
      heading: logs.action,
      kind: 'end',
      cell: (row) => (
        <EndButton
          user={user}
          text={places.session.button}
          of={deviceName(row.user_agent, t)}
          onClick={() => setAsking(row)}
        />
      ),
    },
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
      {asking !== undefined && (
        <Dialog
          title={fill(places.session.ask, { device: deviceName(asking.user_agent, t) })}
          action={places.session.button}
          danger
          run={() => admin.endUserSession(user.uid, asking.sid)}
          onDone={() => onDone(places.session.done)}
          onClose={() => setAsking(undefined)}
        >
          <p>{fill(places.session.effect, { user: user.login_name })}</p>
        </Dialog>
      )}
    </Card>
  );
}

/** Only administrators of the root tenant change another administrator. */
export function EndButton({ user, ...button }: RowButtonProps & { readonly user: AdminUserDetail }): ReactNode {
  const { root } = useViewer();
  return !root && user.is_admin ? null : <RowButton {...button} />;
}
