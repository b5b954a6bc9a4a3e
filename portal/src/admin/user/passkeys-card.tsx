import { type ReactNode, useState } from 'react';
import type { AdminPasskey, AdminUserDetail } from '@portal-auth/sdk/admin';
import { fill } from '../../i18n/texts';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { Dialog } from '../parts/dialog';
import { At } from '../parts/facts';
import { List } from '../parts/list';
import { RowButton } from '../parts/row-button';
import type { Column } from '../parts/table';
import { useRows } from '../use-loaded';
import { mayChange, useViewer } from '../viewer';

interface PasskeysCardProps {
  readonly user: AdminUserDetail;
  readonly onDone: (text: string) => void;
}

/** The passkeys of the user. Each one can be removed by whoever may change the user. */
export function PasskeysCard({ user, onDone }: PasskeysCardProps): ReactNode {
  const { user: texts, logs } = useTexts();
  const viewer = useViewer();
  const rows = useRows(admin.userPasskeys(user.uid), user.uid);
  const [asking, setAsking] = useState<AdminPasskey>();
  const { remove } = texts.keys;
  const columns: Column<AdminPasskey>[] = [
    { heading: texts.keys.name, cell: ({ name }) => name, kind: 'main' },
    { heading: texts.created, cell: (row) => <At at={row.created_at} /> },
    { heading: texts.used, cell: (row) => <At at={row.last_used_at} /> },
    {
      heading: logs.action,
      kind: 'end',
      cell: (row) =>
        mayChange(viewer, user) && <RowButton text={remove} of={row.name} onClick={() => setAsking(row)} />,
    },
  ];
  return (
    <Card title={texts.passkeys}>
      <List of={rows} caption={texts.passkeys} columns={columns} keyOf={({ id }) => id} empty={null} />
      {asking !== undefined && (
        <Dialog
          title={fill(texts.keys.ask, { name: asking.name })}
          action={remove}
          danger
          run={() => admin.removeUserPasskey(user.uid, asking.id)}
          onDone={() => onDone(texts.keys.removed)}
          onClose={() => setAsking(undefined)}
        >
          <p>{fill(texts.keys.effect, { user: user.login_name })}</p>
        </Dialog>
      )}
    </Card>
  );
}
