import type { ReactNode } from 'react';
import { Field } from '../../components/fields';
import { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { EditForm, useEdit } from '../parts/edit-form';
import { EditableFacts, type FormEnds } from '../parts/editable-facts';
import { Lines, Or } from '../parts/facts';
import { changeOf, draftOf, hasBackchannel, hasUsers } from './application';
import type { AdminApplication } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { AccessFields, AddressFields, RightFields } from './field-groups';

interface DetailsCardProps {
  readonly application: AdminApplication;
  readonly onSaved: () => void;
}

/** What the service knows about the application, and the form to change it. */
export function DetailsCard({ application, onSaved }: DetailsCardProps): ReactNode {
  const { applications: texts } = useTexts();
  return (
    <EditableFacts
      title={texts.details}
      facts={useFacts(application)}
      form={(ends) => <DetailsForm application={application} {...ends} />}
      onSaved={onSaved}
    />
  );
}

function useFacts(application: AdminApplication): readonly (readonly [string, ReactNode])[] {
  const { applications: texts, user } = useTexts();
  const { fields } = texts;
  const lines = (values: readonly string[], none?: ReactNode): ReactNode => <Lines values={values} none={none} />;
  const { type } = application;
  const audience = [fields.audience, lines(application.audience)] as const;
  if (!hasUsers(type)) return [[fields.type, texts.types[type].label], audience];
  return [
    [fields.type, texts.types[type].label],
    [fields.redirect_uris, lines(application.redirect_uris)],
    [fields.post_logout_redirect_uris, lines(application.post_logout_redirect_uris)],
    ...(hasBackchannel(application)
      ? [[fields.backchannel_logout_uri, application.backchannel_logout_uri ?? texts.notTold] as const]
      : []),
    [fields.uri, <Or text={application.uri} />],
    [fields.logo_url, <Or text={application.logo_url} />],
    [fields.scopes, application.scopes.join(' ')],
    audience,
    [fields.first_party, application.first_party ? user.yes : user.no],
    [fields.allowed_tenants, lines(application.allowed_tenants, texts.everybody)],
    ...(application.allowed_groups.length > 0
      ? [[fields.allowed_groups, lines(application.allowed_groups)] as const]
      : []),
  ];
}

function DetailsForm({ application, onSaved, onCancel }: DetailsCardProps & FormEnds): ReactNode {
  const { applications: texts } = useTexts();
  const edit = useEdit({
    ...{ name: 'details', values: draftOf(application), changeOf, labels: texts.fields, onSaved },
    load: async () => draftOf(await admin.application(application.id)),
    send: (change) => admin.changeApplication(application.id, change),
  });
  const { draft, set } = edit;
  const problem = problemsOf(edit.save.error);
  const group = { draft, set, problem };
  return (
    <EditForm edit={edit} onCancel={onCancel}>
      <Card title={texts.details}>
        <Field
          label={texts.fields.name}
          value={draft.name}
          onChange={(name) => set({ name })}
          error={problem('name')}
          autoComplete="off"
          maxLength={255}
          autoFocus
          required
        />
      </Card>
      <AddressFields {...group} />
      <RightFields {...group} />
      <AccessFields {...group} />
    </EditForm>
  );
}
