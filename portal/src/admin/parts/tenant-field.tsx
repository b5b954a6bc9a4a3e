import type { ReactNode } from 'react';
import type { AdminOrgUnit, AdminTenant } from '@portal-auth/sdk/admin';
import { Field } from '../../components/fields';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { useLoaded } from '../use-loaded';
import { useViewer } from '../viewer';
import { SelectField, TypedFilter } from './fields';

/** With more tenants than this, a field to type the id in replaces the list. */
const most = 200;

interface TenantFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Undefined while they load, and when there are too many for a list. */
function useTenants(): readonly AdminTenant[] | undefined {
  const { role } = useViewer();
  const { value } = useLoaded((signal) =>
    // The help desk types the id: the list is not for it.
    role === 'help_desk' ? Promise.resolve(undefined) : admin.tenants().page({ limit: most, signal }),
  );
  return value === undefined || value.next !== null ? undefined : value.items;
}

const optionsOf = (rows: readonly { readonly id: string; readonly name: string }[], value: string) => [
  ...(value === '' || rows.some(({ id }) => id === value) ? [] : [[value, value] as const]),
  ...rows.map(({ id, name }) => [id, name === id ? id : `${name} (${id})`] as const),
];

export function TenantFilter({ value, onChange }: TenantFieldProps): ReactNode {
  const { users } = useTexts();
  const tenants = useTenants();
  if (tenants === undefined) return <TypedFilter label={users.columns.tenant} value={value} onChange={onChange} />;
  return (
    <SelectField
      label={users.columns.tenant}
      value={value}
      options={[['', users.all], ...optionsOf(tenants, value)]}
      onChange={onChange}
    />
  );
}

/** @param choose the text of an empty choice; without it the first tenant is chosen */
export function TenantField({ value, onChange, choose }: TenantFieldProps & { readonly choose?: string }): ReactNode {
  const { users } = useTexts();
  const tenants = useTenants();
  if (tenants === undefined) return <Field label={users.columns.tenant} value={value} onChange={onChange} required />;
  return (
    <SelectField
      label={users.columns.tenant}
      value={value}
      options={[...(choose === undefined ? [] : [['', choose] as const]), ...optionsOf(tenants, value)]}
      onChange={onChange}
    />
  );
}

/** The units of one tenant. */
export function UnitField({ tenantId, value, onChange }: TenantFieldProps & { readonly tenantId: string }): ReactNode {
  const { users } = useTexts();
  const { value: page } = useLoaded(
    (signal) => admin.orgUnits({ tenant_id: tenantId }).page({ limit: most, signal }),
    tenantId,
  );
  const units: readonly AdminOrgUnit[] = page?.items ?? [];
  return (
    <SelectField
      label={users.fields.unit}
      value={value}
      options={[['', users.noUnit], ...optionsOf(units, value)]}
      onChange={onChange}
    />
  );
}
