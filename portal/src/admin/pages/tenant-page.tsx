import { type ReactNode, useState } from 'react';
import type { AdminOrgUnit } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { Building, Plus } from '../parts/icons';
import { List } from '../parts/list';
import { NewRow, Rename } from '../parts/named-rows';
import { PageHead } from '../parts/page-head';
import { EmptyState } from '../parts/states';
import { RowButton } from '../parts/row-button';
import type { Column } from '../parts/table';
import { hrefOf } from '../place';
import { say } from '../toasts';
import { useOpenForm } from '../use-draft';
import { useLoaded, useRows } from '../use-loaded';
import { useViewer } from '../viewer';

/** One tenant: its name and its units. Administrators of the tenant see this page, too. */
export function TenantPage({ id }: { readonly id: string }): ReactNode {
  const { tenants: texts, logs, nav } = useTexts();
  const { root, writes } = useViewer();
  const tenant = useLoaded(async (signal) => {
    if (!root) return undefined;
    for await (const one of admin.tenants().each({ signal })) if (one.id === id) return one;
    return undefined;
  }, id);
  const rows = useRows(admin.orgUnits({ tenant_id: id }), id);
  const [renaming, setRenaming] = useState<string>();
  const [creating, setCreating] = useOpenForm('new');
  const finished = (text: string) => {
    setCreating(false);
    setRenaming(undefined);
    say(text);
    rows.reload();
    tenant.reload();
  };
  const cancel = () => setRenaming(undefined);
  const columns: Column<AdminOrgUnit>[] = [
    {
      heading: texts.name,
      kind: 'main',
      cell: (unit) =>
        renaming === unit.id ? (
          <Rename
            name={unit.name}
            draft={`name ${unit.id}`}
            rename={(name) => admin.renameOrgUnit(unit.id, name)}
            onDone={() => finished(texts.renamed)}
            onCancel={cancel}
          />
        ) : (
          unit.name
        ),
    },
    { heading: texts.id, cell: (unit) => <code>{unit.id}</code> },
    {
      heading: logs.action,
      kind: 'end',
      cell: (unit) =>
        writes &&
        renaming !== unit.id && <RowButton text={texts.rename} of={unit.name} onClick={() => setRenaming(unit.id)} />,
    },
  ];
  const name = tenant.value?.name ?? id;
  return (
    <>
      <PageHead
        title={root ? name : texts.units}
        intro={root ? <code>{id}</code> : texts.unitsIntro}
        {...(root && { up: { href: hrefOf('/tenants'), text: texts.title } })}
      >
        {root && writes && tenant.value !== undefined && renaming !== '' && (
          <button type="button" className="secondary small" onClick={() => setRenaming('')}>
            {texts.rename}
          </button>
        )}
        <a className="secondary small" href={hrefOf(`/brand/${encodeURIComponent(id)}`)}>
          {nav.brand}
        </a>
        <a className="secondary small" href={hrefOf('/users', root ? { tenant_id: id } : {})}>
          {texts.showUsers}
        </a>
      </PageHead>
      {renaming === '' && (
        <div className="narrow">
          <Card title={texts.rename}>
            <Rename
              name={name}
              rename={(next) => admin.renameTenant(id, next)}
              onDone={() => finished(texts.renamed)}
              onCancel={cancel}
            />
          </Card>
        </div>
      )}
      <Card
        title={texts.units}
        action={
          writes &&
          !creating && (
            <button type="button" className="secondary small" onClick={() => setCreating(true)}>
              <Plus />
              {texts.createUnit}
            </button>
          )
        }
      >
        {creating && (
          <NewRow
            submit={texts.createUnit}
            idHint={texts.idHint}
            create={(unit, title) => admin.createOrgUnit({ id: unit, name: title, tenant_id: id })}
            onDone={() => finished(texts.unitCreated)}
            onCancel={() => setCreating(false)}
          />
        )}
        <List
          of={rows}
          caption={texts.units}
          columns={columns}
          keyOf={(unit) => unit.id}
          empty={<EmptyState icon={<Building />} title={texts.noUnits} />}
        />
      </Card>
    </>
  );
}
