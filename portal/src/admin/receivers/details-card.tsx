import type { ReactNode } from 'react';
import type { AdminEventReceiver } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { EditForm, useEdit } from '../parts/edit-form';
import { EditableFacts, type FormEnds } from '../parts/editable-facts';
import { At, Lines } from '../parts/facts';
import { FilterFields, TargetFields } from './field-groups';
import { changeOf, draftOf } from './receiver';

interface DetailsCardProps {
  readonly receiver: AdminEventReceiver;
  readonly onSaved: () => void;
}

/** What was set for the receiver, and the form to change it. */
export function DetailsCard({ receiver, onSaved }: DetailsCardProps): ReactNode {
  const { receivers: texts } = useTexts();
  const { fields } = texts;
  return (
    <EditableFacts
      title={texts.details}
      facts={[
        [fields.url, receiver.url],
        [fields.format, texts.formats[receiver.format].label],
        ...(receiver.format === 'set' ? [[fields.audience, receiver.audience ?? receiver.url] as const] : []),
        [fields.types, <Lines values={receiver.types} none={texts.all} />],
        [fields.tenants, <Lines values={receiver.tenants} none={texts.all} />],
        [fields.created, <At at={receiver.created_at} />],
        [fields.changed, <At at={receiver.changed_at} />],
      ]}
      form={(ends) => <DetailsForm receiver={receiver} {...ends} />}
      onSaved={onSaved}
    />
  );
}

function DetailsForm({ receiver, onSaved, onCancel }: DetailsCardProps & FormEnds): ReactNode {
  const { receivers: texts } = useTexts();
  const edit = useEdit({
    ...{ name: 'details', values: draftOf(receiver), changeOf, labels: texts.fields, onSaved },
    load: async () => draftOf(await admin.eventReceiver(receiver.id)),
    send: (change) => admin.changeEventReceiver(receiver.id, change),
  });
  const group = { draft: edit.draft, set: edit.set, problem: problemsOf(edit.save.error) };
  return (
    <EditForm edit={edit} onCancel={onCancel}>
      <Card title={texts.details}>
        <TargetFields {...group} />
      </Card>
      <FilterFields {...group} />
    </EditForm>
  );
}
