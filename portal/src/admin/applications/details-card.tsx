import type { ReactNode } from 'react';
import { Field } from '../../components/fields';
import { Form } from '../../components/form';
import { Failure } from '../../components/message';
import { Submit } from '../../components/submit';
import { useSpeech } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { useClash } from '../parts/clash';
import { EditableFacts, type FormEnds } from '../parts/editable-facts';
import { Lines, Or } from '../parts/facts';
import { useDraft } from '../use-draft';
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
      form={(ends) => <EditForm application={application} {...ends} />}
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

function EditForm({ application, onSaved, onCancel }: DetailsCardProps & FormEnds): ReactNode {
  const { t } = useSpeech();
  const { applications: texts, user } = useTexts();
  const [draft, setDraft, before] = useDraft('details', draftOf(application));
  const set = (values: Partial<typeof draft>) => setDraft({ ...draft, ...values });
  const change = changeOf(before, draft);
  const changed = Object.keys(change).length > 0;
  const clash = useClash({
    ...{ before, now: draft, onTake: set, labels: texts.fields },
    load: async () => draftOf(await admin.application(application.id)),
  });
  const save = useTask(async () => {
    if (changed) {
      if (!(await clash.passes())) return;
      await admin.changeApplication(application.id, change);
    }
    onSaved();
  });
  const problem = problemsOf(save.error);
  const group = { draft, problem, set };
  return (
    <Form busy={save.busy} onSubmit={() => void save.run()}>
      <Failure error={save.error} />
      {clash.message}
      <Card title={texts.details}>
        <Field
          label={texts.fields.name}
          value={draft.name}
          onChange={(name) => group.set({ name })}
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
      <div className="actions start">
        <Submit label={user.save} busy={save.busy} busyLabel={user.saving} />
        <button type="button" className="secondary" onClick={onCancel}>
          {t.account.cancel}
        </button>
      </div>
    </Form>
  );
}
