import { type ReactNode, useState } from 'react';
import type { AdminDevice, AdminUserDetail } from '@portal-auth/sdk/admin';
import { deviceName } from '../../account/device-name';
import { fill, useSpeech } from '../../i18n/texts';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { Dialog } from '../parts/dialog';
import { At, Ip } from '../parts/facts';
import { List } from '../parts/list';
import type { Column } from '../parts/table';
import { useRows } from '../use-loaded';
import { EndButton } from './sessions-card';

interface DevicesCardProps {
  readonly user: AdminUserDetail;
  readonly onDone: (text: string) => void;
}

/** The trusted devices of the user, each of which can be made to need a code again. */
export function DevicesCard({ user, onDone }: DevicesCardProps): ReactNode {
  const { t } = useSpeech();
  const { user: texts, logs, places } = useTexts();
  const rows = useRows(admin.userDevices(user.uid), user.uid);
  const [asking, setAsking] = useState<AdminDevice>();
  const columns: Column<AdminDevice>[] = [
    {
      heading: logs.device,
      cell: (row) => <span title={row.user_agent}>{deviceName(row.user_agent, t)}</span>,
      kind: 'main',
    },
    { heading: texts.created, cell: (row) => <At at={row.created_at} /> },
    { heading: texts.used, cell: (row) => <At at={row.last_used_at} /> },
    { heading: logs.ip, cell: (row) => <Ip ip={row.ip} /> },
    {
      heading: logs.action,
      kind: 'end',
      cell: (row) => (
        <EndButton
          user={user}
          text={places.device.button}
          of={deviceName(row.user_agent, t)}
          onClick={() => setAsking(row)}
        />
      ),
    },
  ];
  return (
    <Card title={texts.devices}>
      <List of={rows} caption={texts.devices} columns={columns} keyOf={({ id }) => id} empty={null} />
      {asking !== undefined && (
        <Dialog
          title={fill(places.device.ask, { device: deviceName(asking.user_agent, t) })}
          action={places.device.button}
          danger
          run={() => admin.removeUserDevice(user.uid, asking.id)}
          onDone={() => onDone(places.device.done)}
          onClose={() => setAsking(undefined)}
        >
          <p>{fill(places.device.effect, { user: user.login_name })}</p>
        </Dialog>
      )}
    </Card>
  );
}
