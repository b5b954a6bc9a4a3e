import { type ReactNode, useId, useState } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { Field } from '../../components/fields';
import { useOffer } from '../../offer';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { CheckField, SelectField } from '../parts/fields';
import { LanguageField } from '../parts/language-field';
import { NewEntryForm } from '../parts/new-entry-form';
import { isTaken } from '../parts/refusals';
import { TenantField, UnitField } from '../parts/tenant-field';
import { go, hrefOf, userHref } from '../place';
import { useDraft } from '../use-draft';
import { type Role, useViewer } from '../viewer';

const rights = ['is_admin', 'help_desk', 'auditor'] as const;
type Right = 'is_admin' | Role;

export function NewUserPage(): ReactNode {
  const { users: texts, newUser, user: userTexts } = useTexts();
  const { me, root } = useViewer();
  const { providers } = useOffer();
  const message = useId();
  const [checked, setChecked] = useState(false);
  const initial = {
    login_name: '',
    email: '',
    nickname: '',
    language: '',
    provider: 'password' as 'password' | 'ldap',
    tenant_id: me.tenant_id ?? '',
    org_unit_id: '',
    right: '' as Right | '',
    invite: true,
  };
  const [user, setUser] = useDraft('new', initial, {
    asks: ({ login_name, email, nickname }) => [login_name, email, nickname].some((text) => text.trim() !== ''),
  });
  const set = (change: Partial<typeof user>) => setUser({ ...user, ...change });
  const directory = user.provider === 'ldap';
  const invited = user.invite && !directory;

  const save = useTask(async () => {
    const { login_name, email, nickname, language, org_unit_id, tenant_id, right, ...rest } = user;
    const { uid } = await admin.createUser({
      ...rest,
      login_name: login_name.trim(),
      email: email.trim(),
      ...(nickname.trim() !== '' && { nickname: nickname.trim() }),
      ...(language !== '' && { language }),
      ...(org_unit_id !== '' && { org_unit_id }),
      ...(root && { tenant_id }),
      ...(right === 'is_admin' ? { is_admin: true } : right !== '' && { role: right }),
      invite: invited,
    });
    go(userHref(uid));
  });
  const nameMissing = user.login_name.trim() === '';
  const emailMissing = user.email.trim() === '';
  const refusal = save.error instanceof ServiceError ? save.error : undefined;
  const problem = (field: string): string | undefined => refusal?.fields[field]?.[0];
  return (
    <NewEntryForm
      title={newUser.title}
      up={{ href: hrefOf('/users'), text: texts.title }}
      save={save}
      onSubmit={() => {
        setChecked(true);
        if (nameMissing || emailMissing) save.reset();
        else void save.run();
      }}
      messageId={message}
      submit={newUser.submit}
    >
      <Card title={newUser.who}>
        <Field
          label={texts.fields.loginName}
          value={user.login_name}
          onChange={(login_name) => set({ login_name })}
          error={checked && nameMissing ? newUser.nameRequired : problem('login_name')}
          errorId={isTaken(save.error) ? message : undefined}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={255}
          required
        />
        <Field
          label={texts.fields.email}
          type="email"
          value={user.email}
          onChange={(email) => set({ email })}
          error={checked && emailMissing ? newUser.emailRequired : problem('email')}
          autoComplete="off"
          maxLength={255}
          required
        />
        <Field
          label={newUser.nickname}
          value={user.nickname}
          onChange={(nickname) => set({ nickname })}
          error={problem('nickname')}
          autoComplete="off"
          maxLength={255}
        />
        <LanguageField value={user.language} onChange={(language) => set({ language })} />
      </Card>
      <Card title={newUser.access}>
        {root && providers.length > 1 && (
          <SelectField
            label={texts.columns.provider}
            value={user.provider}
            options={providers.map((one) => [one, texts.providers[one]] as const)}
            onChange={(provider) => set({ provider })}
            hint={directory ? newUser.directoryHint : undefined}
          />
        )}
        {root && <TenantField value={user.tenant_id} onChange={(tenant_id) => set({ tenant_id, org_unit_id: '' })} />}
        <UnitField
          tenantId={user.tenant_id}
          value={user.org_unit_id}
          onChange={(org_unit_id) => set({ org_unit_id })}
        />
        {root && (
          <SelectField
            label={userTexts.roles.right}
            value={user.right}
            options={[
              ['', newUser.noRight],
              ...rights.map((one) => [one, one === 'is_admin' ? texts.administrator : texts.roles[one]] as const),
            ]}
            onChange={(right) => set({ right })}
            hint={user.right === '' ? undefined : newUser.rightHints[user.right]}
          />
        )}
        {!directory && (
          <CheckField
            label={newUser.invite}
            hint={newUser.inviteHint}
            checked={user.invite}
            onChange={(invite) => set({ invite })}
          />
        )}
      </Card>
    </NewEntryForm>
  );
}
