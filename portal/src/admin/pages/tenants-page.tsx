import type { ReactNode } from 'react';
import type { AdminTenant } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { usePageAction } from '../page-actions';
import { Card } from '../parts/card';
import { Building, Plus } from '../parts/icons';
import { List } from '../parts/list';
import { NewRow } from '../parts/named-rows';
import { PageHead } from '../parts/page-head';
import { EmptyState } from '../parts/states';
import type { Column } from '../parts/table';
import { hrefOf } from '../place';
import { say } from '../toasts';
import { useOpenForm } from '../use-draft';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';

export function TenantsPage(): ReactNode {
  const { tenants: texts, logs } = useTexts();
  const { writes } = useViewer();
  const rows = useRows(admin.tenants());
  const [creating, setCreating] = useOpenForm('new');
  usePageAction(texts.create, writes && !creating ? () => setCreating(true) : undefined);
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
        {writes && !creating && (
          <button type="button" className="primary small" onClick={() => setCreating(true)}>
            <Plus />
            {texts.create}
          </button>
        )}
      </PageHead>
      {creating && (
        <div className="narrow">
          <Card title={texts.create}>
            <NewRow
              submit={texts.create}
              idHint={texts.idHint}
              create={(id, name) => admin.createTenant({ id, name })}
              onDone={() => {
                setCreating(false);
                say(texts.created);
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
