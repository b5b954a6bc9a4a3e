import type { ReactNode } from 'react';
import type { AdminIdentityProvider } from '@portal-auth/sdk/admin';
import { Field } from '../../components/fields';
import { admin } from '../client';
import { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { EditForm, useEdit } from '../parts/edit-form';
import { EditableFacts, type FormEnds } from '../parts/editable-facts';
import { At, Lines, Or } from '../parts/facts';
import { HintedField } from '../parts/fields';
import { ClientFields, PeopleFields, TrustFields } from './field-groups';
import { changeOf, claims, draftOf } from './provider';

interface DetailsCardProps {
  readonly provider: AdminIdentityProvider;
  readonly onSaved: () => void;
}

/** What the service knows about the provider, and the form to change it. */
export function DetailsCard({ provider, onSaved }: DetailsCardProps): ReactNode {
  const { identityProviders: texts } = useTexts();
  return (
    <EditableFacts
      title={texts.details}
      facts={useFacts(provider)}
      form={(ends) => <DetailsForm provider={provider} {...ends} />}
      onSaved={onSaved}
    />
  );
}

function useFacts(provider: AdminIdentityProvider): readonly (readonly [string, ReactNode])[] {
  const { identityProviders: texts, users, user } = useTexts();
  const { fields } = texts;
  const yesOrNo = (value: boolean): string => (value ? user.yes : user.no);
  return [
    [fields.issuer, provider.issuer],
    [fields.client_id, provider.client_id],
    [fields.client_secret, provider.has_client_secret ? texts.secretStored : texts.secretNone],
    ...(provider.client_secret_expires === null
      ? []
      : [[fields.client_secret_expires, <At at={provider.client_secret_expires} />] as const]),
    [texts.boundUsers, provider.bound_users],
    [fields.listed, yesOrNo(provider.listed)],
    [fields.domains, <Lines values={provider.domains} />],
    [fields.jit, yesOrNo(provider.jit)],
    [users.columns.tenant, provider.tenant_id],
    [fields.match_claim, <Or text={provider.match_claim} />],
    [fields.trust_mfa, yesOrNo(provider.trust_mfa)],
    ...claims.map((claim) => [fields.claims[claim], <Or text={provider.claims[claim]} />] as const),
    [fields.scopes, provider.scopes.join(' ')],
    ...(provider.acr_values.length === 0 ? [] : [[fields.acr_values, <Lines values={provider.acr_values} />] as const]),
  ];
}

function DetailsForm({ provider, onSaved, onCancel }: DetailsCardProps & FormEnds): ReactNode {
  const { identityProviders: texts, applications } = useTexts();
  const edit = useEdit({
    ...{ name: 'details', values: draftOf(provider), secret: ['client_secret'], changeOf, onSaved },
    load: async () => draftOf(await admin.identityProvider(provider.id)),
    send: (change) => admin.changeIdentityProvider(provider.id, change),
    labels: { ...texts.fields, name: applications.fields.name, claims: Object.values(texts.fields.claims).join(', ') },
  });
  const { draft, set } = edit;
  const problem = problemsOf(edit.save.error);
  const group = { draft, set, problem };
  return (
    <EditForm edit={edit} onCancel={onCancel}>
      <Card title={texts.details}>
        <Field
          label={applications.fields.name}
          value={draft.name}
          onChange={(name) => set({ name })}
          error={problem('name')}
          autoComplete="off"
          maxLength={255}
          autoFocus
          required
        />
        <HintedField
          label={texts.fields.issuer}
          hint={provider.bound_users > 0 ? texts.hints.issuerStays : texts.hints.issuer}
          value={draft.issuer}
          onChange={(issuer) => set({ issuer })}
          error={problem('issuer')}
        />
      </Card>
      <ClientFields {...group} hasSecret={provider.has_client_secret} />
      <PeopleFields {...group} />
      <TrustFields {...group} />
    </EditForm>
  );
}
