import { type ReactNode, useState } from 'react';
import { Form } from '../../components/form';
import { Failure } from '../../components/message';
import { Submit } from '../../components/submit';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { HintedField } from '../parts/fields';
import { handOver } from '../parts/fresh-secret';
import { PageHead } from '../parts/page-head';
import { eventReceiverHref, go, hrefOf } from '../place';
import { FilterFields, TargetFields } from '../receivers/field-groups';
import { bodyOf, emptyDraft } from '../receivers/receiver';
import { useDraft } from '../use-draft';

/** Adds a receiver of events. Its page then shows the secret, once. */
export function NewEventReceiverPage(): ReactNode {
  const { receivers: texts, newUser } = useTexts();
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
    <>
      <PageHead title={texts.create} up={{ href: hrefOf('/event-receivers'), text: texts.title }} />
      <div className="narrow">
        <Form busy={save.busy} onSubmit={submit}>
          <Failure error={save.error} />
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
          <div className="actions start">
            <Submit label={texts.submit} busy={save.busy} busyLabel={newUser.busy} />
            <a className="secondary" href={hrefOf('/event-receivers')}>
              {newUser.cancel}
            </a>
          </div>
        </Form>
      </div>
    </>
  );
}
