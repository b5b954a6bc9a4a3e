import { type ReactNode, useId } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import type { AdminUserDetail, AdminUserChange } from '@portal-auth/sdk/admin';
import { Field } from '../../components/fields';
import { Message } from '../../components/message';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { EditForm, useEdit } from '../parts/edit-form';
import { SelectField } from '../parts/fields';
import { LanguageField } from '../parts/language-field';
import { isTaken } from '../parts/refusals';
import { TenantField, UnitField } from '../parts/tenant-field';
import { useViewer } from '../viewer';

interface ProfileFormProps {
  readonly user: AdminUserDetail;
  readonly onSaved: () => void;
  readonly onCancel: () => void;
}

/** The fields of the user that an administrator changes. */
export function ProfileForm({ user, onSaved, onCancel }: ProfileFormProps): ReactNode {
  const { users, user: texts } = useTexts();
  const { me, root } = useViewer();
  const message = useId();
  const edit = useEdit({
    ...{ name: 'profile', values: valuesOf(user), changeOf, onSaved },
    load: async () => valuesOf(await admin.user(user.uid)),
    send: (change) => admin.changeUser(user.uid, change),
    labels: {
      email: users.fields.email,
      nickname: users.fields.nickname,
      mfa_type: texts.mfaType,
      tenant_id: users.columns.tenant,
      org_unit_id: users.fields.unit,
      language: users.fields.language,
    },
  });
  const { draft: now, set, change } = edit;
  const { error } = edit.save;
  const refusal = error instanceof ServiceError ? error : undefined;
  return (
    <EditForm edit={edit} messageId={message} onCancel={onCancel}>
      <Field
        label={users.fields.nickname}
        value={now.nickname}
        onChange={(nickname) => set({ nickname })}
        error={refusal?.fields.nickname?.[0]}
        autoComplete="off"
        maxLength={255}
        autoFocus
      />
      <Field
        label={users.fields.email}
        type="email"
        value={now.email}
        onChange={(email) => set({ email })}
        error={refusal?.fields.email?.[0]}
        errorId={isTaken(error) ? message : undefined}
        autoComplete="off"
        maxLength={255}
      />
      <LanguageField value={now.language} onChange={(language) => set({ language })} />
      <SelectField
        label={texts.mfaType}
        value={now.mfa_type}
        options={[
          ['email', texts.mfaTypes.email],
          ['totp', texts.mfaTypes.totp],
        ]}
        onChange={(mfa_type) => set({ mfa_type })}
      />
      {root && user.uid !== me.uid && (
        <TenantField value={now.tenant_id} onChange={(tenant_id) => set({ tenant_id, org_unit_id: '' })} />
      )}
      <UnitField tenantId={now.tenant_id} value={now.org_unit_id} onChange={(org_unit_id) => set({ org_unit_id })} />
      {change.tenant_id !== undefined && <Message kind="warning">{texts.tenantWarning}</Message>}
    </EditForm>
  );
}

type Values = Readonly<Record<'email' | 'nickname' | 'tenant_id' | 'org_unit_id' | 'language', string>> &
  Pick<AdminUserDetail, 'mfa_type'>;

const valuesOf = (user: AdminUserDetail): Values => ({
  email: user.email ?? '',
  nickname: user.nickname ?? '',
  mfa_type: user.mfa_type,
  tenant_id: user.tenant_id,
  org_unit_id: user.org_unit_id ?? '',
  language: user.language ?? '',
});

function changeOf(before: Values, now: Values): AdminUserChange {
  const text = (name: 'email' | 'nickname' | 'org_unit_id' | 'language') => {
    const value = now[name].trim();
    return value === before[name] ? {} : { [name]: value === '' ? null : value };
  };
  return {
    ...text('email'),
    ...text('nickname'),
    ...text('org_unit_id'),
    ...text('language'),
    ...(now.mfa_type !== before.mfa_type && { mfa_type: now.mfa_type }),
    ...(now.tenant_id !== before.tenant_id && { tenant_id: now.tenant_id.trim() }),
  };
}
