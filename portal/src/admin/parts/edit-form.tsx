import type { ReactNode } from 'react';
import { Form } from '../../components/form';
import { FormActions } from '../../components/form-actions';
import { Failure } from '../../components/message';
import { useTask } from '../../use-task';
import { useTexts } from '../i18n/texts';
import { useDraft } from '../use-draft';
import { type ClashOptions, useClash } from './clash';

interface EditOptions<T, C> extends Pick<ClashOptions<T>, 'load' | 'labels'> {
  /** The name of the draft. */
  readonly name: string;
  /** The values that the form begins with. */
  readonly values: T;
  /** Fields that no storage of the browser may have. */
  readonly secret?: readonly (keyof T)[];
  readonly changeOf: (before: T, now: T) => C;
  readonly send: (change: C) => Promise<unknown>;
  readonly onSaved: () => void;
}

/**
 * The state of an `EditForm`. It sends only what was changed, so that two administrators who change different fields do not
 * undo each other.
 */
export function useEdit<T extends object, C extends object>(options: EditOptions<T, C>) {
  const { name, values, secret, changeOf, load, labels, send, onSaved } = options;
  const [draft, setDraft, before] = useDraft(name, values, { secret });
  const set = (given: Partial<T>) => setDraft({ ...draft, ...given });
  const change = changeOf(before, draft);
  const clash = useClash({ before, now: draft, load, onTake: set, labels });
  const save = useTask(async () => {
    if (Object.keys(change).length > 0) {
      if (!(await clash.passes())) return;
      await send(change);
    }
    onSaved();
  });
  return { draft, set, change, save, clash: clash.message };
}

interface EditFormProps {
  readonly edit: Pick<ReturnType<typeof useEdit>, 'save' | 'clash'>;
  /** The id of the message about a refusal. */
  readonly messageId?: string;
  readonly onCancel: () => void;
  readonly children: ReactNode;
}

/** The form that changes an entry. */
export function EditForm({ edit: { save, clash }, messageId, onCancel, children }: EditFormProps): ReactNode {
  const { user: texts } = useTexts();
  return (
    <Form busy={save.busy} onSubmit={() => void save.run()}>
      <Failure id={messageId} error={save.error} />
      {clash}
      {children}
      <FormActions label={texts.save} busy={save.busy} busyLabel={texts.saving} onCancel={onCancel} />
    </Form>
  );
}
