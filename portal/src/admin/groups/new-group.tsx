import type { ReactNode } from 'react';
import type { AdminGroup } from '@portal-auth/sdk/admin';
import { Field } from '../../components/fields';
import { Form } from '../../components/form';
import { FormActions } from '../../components/form-actions';
import { Failure } from '../../components/message';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { TenantField } from '../parts/tenant-field';
import { useDraft } from '../use-draft';
import { useRequired } from '../use-required';
import { useViewer } from '../viewer';

interface NewGroupProps {
  readonly onDone: (group: AdminGroup) => void;
  readonly onCancel: () => void;
}

export function NewGroup({ onDone, onCancel }: NewGroupProps): ReactNode {
  const { groups: texts, tenants } = useTexts();
  const { me, root } = useViewer();
  const [{ name, tenant }, set] = useDraft('new', { name: '', tenant: me.tenant_id ?? '' });
  const task = useTask(async () => {
    onDone(await admin.createGroup({ name: name.trim(), ...(root && { tenant_id: tenant }) }));
  });
  const { save, problemAt } = useRequired(task, { name: [name, tenants.nameRequired] });
  return (
    <Form busy={task.busy} onSubmit={save}>
      <Failure error={task.error} />
      <Field
        label={texts.name}
        value={name}
        onChange={(next) => set({ name: next, tenant })}
        error={problemAt('name')}
        autoComplete="off"
        maxLength={255}
        autoFocus
        required
      />
      {root && <TenantField value={tenant} onChange={(next) => set({ name, tenant: next })} />}
      <FormActions label={texts.submit} busy={task.busy} busyLabel={tenants.saving} onCancel={onCancel} />
    </Form>
  );
}
