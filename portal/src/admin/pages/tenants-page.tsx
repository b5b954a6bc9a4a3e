import { type ReactNode, useState } from 'react';
import type { AdminTenant } from '@portal-auth/sdk/admin';
import { Message } from '../../components/message';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { Building, Plus } from '../parts/icons';
import { List } from '../parts/list';
import { NewRow } from '../parts/named-rows';
import { PageHead } from '../parts/page-head';
import { EmptyState } from '../parts/states';
import type { Column } from '../parts/table';
import { hrefOf } from '../place';
import { useRows } from '../use-loaded';

export function TenantsPage(): ReactNode {
  const { tenants: texts, logs } = useTexts();
  const rows = useRows(admin.tenants());
  const [creating, setCreating] = useState(false);
  const [done, setDone] = useState(false);
  const columns: Column<AdminTenant>[] = [
    {
      heading: texts.name,
      cell: ({ id, name }) => (
        <a className="row-link" href={hrefOf(`/tenants/${encodeURIComponent(id)}`)}>
          {name}
        </a>
      ),
      kind: 'main',
    },
    { heading: texts.id, cell: ({ id }) => <code>{id}</code> },
    {
      heading: logs.action,
      kind: 'end',
      cell: ({ id, name }) => (
        <a className="quiet-link" href={hrefOf('/users', { tenant_id: id })} aria-label={`${texts.showUsers}: ${name}`}>
          {texts.showUsers}
        </a>
      ),
    },
  ];
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro}>
        {!creating && (
          <button type="button" className="primary small" onClick={() => setCreating(true)}>
            <Plus />
            {texts.create}
          </button>
        )}
      </PageHead>
      {done && (
        <Message kind="success" focused>
          {texts.created}
        </Message>
      )}
      {creating && (
        <div className="narrow">
          <Card title={texts.create}>
            <NewRow
              submit={texts.create}
              idHint={texts.idHint}
              create={(id, name) => admin.createTenant({ id, name })}
              onDone={() => {
                setCreating(false);
                setDone(true);
                rows.reload();
              }}
              onCancel={() => setCreating(false)}
            />
          </Card>
        </div>
      )}
      <List
        of={rows}
        caption={texts.title}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<EmptyState icon={<Building />} title={texts.empty} />}
      />
    </>
  );
}
