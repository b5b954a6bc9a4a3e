import { type ReactNode, useId } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import type { AdminUserDetail, AdminUserChange } from '@portal-auth/sdk/admin';
import { Field } from '../../components/fields';
import { Form } from '../../components/form';
import { Failure, Message } from '../../components/message';
import { Submit } from '../../components/submit';
import { useSpeech } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { useClash } from '../parts/clash';
import { SelectField } from '../parts/fields';
import { LanguageField } from '../parts/language-field';
import { isTaken } from '../parts/refusals';
import { TenantField, UnitField } from '../parts/tenant-field';
import { useDraft } from '../use-draft';
import { useViewer } from '../viewer';

interface EditFormProps {
  readonly user: AdminUserDetail;
  readonly onSaved: () => void;
  readonly onCancel: () => void;
}

/** Sends only what was changed, so that two administrators who change different fields do not undo each other. */
export function EditForm({ user, onSaved, onCancel }: EditFormProps): ReactNode {
  const { t } = useSpeech();
  const { users, user: texts } = useTexts();
  const { me, root } = useViewer();
  const message = useId();
  const [now, setNow, before] = useDraft('profile', valuesOf(user));
  const set = (change: Partial<Values>) => setNow({ ...now, ...change });
  const change = changeOf(before, now);
  const clash = useClash({
    ...{ before, now, onTake: set },
    load: async () => valuesOf(await admin.user(user.uid)),
    labels: {
      email: users.fields.email,
      nickname: users.fields.nickname,
      mfa_type: texts.mfaType,
      tenant_id: users.columns.tenant,
      org_unit_id: users.fields.unit,
      language: users.fields.language,
    },
  });
  const save = useTask(async () => {
    if (Object.keys(change).length > 0) {
      if (!(await clash.passes())) return;
      await admin.changeUser(user.uid, change);
    }
    onSaved();
  });
  const refusal = save.error instanceof ServiceError ? save.error : undefined;
  return (
    <Form busy={save.busy} onSubmit={() => void save.run()}>
      <Failure id={message} error={save.error} />
      {clash.message}
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
        errorId={isTaken(save.error) ? message : undefined}
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
      <div className="actions start">
        <Submit label={texts.save} busy={save.busy} busyLabel={texts.saving} />
        <button type="button" className="secondary" onClick={onCancel}>
          {t.account.cancel}
        </button>
      </div>
    </Form>
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
