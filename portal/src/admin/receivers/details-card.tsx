import type { ReactNode } from 'react';
import type { AdminEventReceiver } from '@portal-auth/sdk/admin';
import { Form } from '../../components/form';
import { Failure } from '../../components/message';
import { Submit } from '../../components/submit';
import { useSpeech } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { useClash } from '../parts/clash';
import { EditableFacts, type FormEnds } from '../parts/editable-facts';
import { At, Lines } from '../parts/facts';
import { useDraft } from '../use-draft';
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
      form={(ends) => <EditForm receiver={receiver} {...ends} />}
      onSaved={onSaved}
    />
  );
}

function EditForm({ receiver, onSaved, onCancel }: DetailsCardProps & FormEnds): ReactNode {
  const { t } = useSpeech();
  const { receivers: texts, user } = useTexts();
  const [draft, setDraft, before] = useDraft('details', draftOf(receiver));
  const set = (values: Partial<typeof draft>) => setDraft({ ...draft, ...values });
  const change = changeOf(before, draft);
  const clash = useClash({
    ...{ before, now: draft, onTake: set, labels: texts.fields },
    load: async () => draftOf(await admin.eventReceiver(receiver.id)),
  });
  const save = useTask(async () => {
    if (Object.keys(change).length > 0) {
      if (!(await clash.passes())) return;
      await admin.changeEventReceiver(receiver.id, change);
    }
    onSaved();
  });
  const group = { draft, set, problem: problemsOf(save.error) };
  return (
    <Form busy={save.busy} onSubmit={() => void save.run()}>
      <Failure error={save.error} />
      {clash.message}
      <Card title={texts.details}>
        <TargetFields {...group} />
      </Card>
      <FilterFields {...group} />
      <div className="actions start">
        <Submit label={user.save} busy={save.busy} busyLabel={user.saving} />
        <button type="button" className="secondary" onClick={onCancel}>
          {t.account.cancel}
        </button>
      </div>
    </Form>
  );
}
