import { type ReactNode, useState } from 'react';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { HintedField } from '../parts/fields';
import { handOver } from '../parts/fresh-secret';
import { NewEntryForm } from '../parts/new-entry-form';
import { eventReceiverHref, go, hrefOf } from '../place';
import { FilterFields, TargetFields } from '../receivers/field-groups';
import { bodyOf, emptyDraft } from '../receivers/receiver';
import { useDraft } from '../use-draft';

/** Adds a receiver of events. Its page then shows the secret, once. */
export function NewEventReceiverPage(): ReactNode {
  const { receivers: texts } = useTexts();
  const [draft, setDraft] = useDraft('new', emptyDraft);
  const [checked, setChecked] = useState(false);
  const set = (change: Partial<typeof draft>) => setDraft((now) => ({ ...now, ...change }));
  const save = useTask(async () => {
    const { id, secret } = await admin.createEventReceiver(bodyOf(draft));
    handOver(id, secret);
    go(eventReceiverHref(id));
  });
  const told = problemsOf(save.error);
  const missing = {
    id: !/^[a-z0-9-]{1,40}$/.test(draft.id.trim()) && texts.idRequired,
    url: draft.url.trim() === '' && texts.urlRequired,
  };
  const problem: typeof told = (field, entry) =>
    (checked && entry === undefined && missing[field as keyof typeof missing]) || told(field, entry);
  const group = { draft, set, problem };
  const submit = () => {
    const isMissing = missing.id !== false || missing.url !== false;
    setChecked(isMissing);
    if (isMissing) save.reset();
    else void save.run();
  };
  return (
    <NewEntryForm
      title={texts.create}
      up={{ href: hrefOf('/event-receivers'), text: texts.title }}
      save={save}
      onSubmit={submit}
      submit={texts.submit}
    >
      <Card title={texts.details}>
        <HintedField
          label={texts.fields.id}
          hint={texts.hints.id}
          value={draft.id}
          onChange={(id) => set({ id })}
          error={problem('id')}
          maxLength={40}
          placeholder="siem"
          required
        />
        <TargetFields {...group} />
      </Card>
      <FilterFields {...group} />
    </NewEntryForm>
  );
}
