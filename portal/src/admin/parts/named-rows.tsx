import { type ReactNode, useId } from 'react';
import { Field } from '../../components/fields';
import { Form } from '../../components/form';
import { FormActions } from '../../components/form-actions';
import { Failure } from '../../components/message';
import { useTask } from '../../use-task';
import { useTexts } from '../i18n/texts';
import { useDraft } from '../use-draft';
import { useRequired } from '../use-required';

interface NewRowProps {
  readonly submit: string;
  readonly idHint: string;
  readonly create: (id: string, name: string) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** A form for a new tenant or unit. The id cannot be changed later. */
export function NewRow({ submit, idHint, create, onDone, onCancel }: NewRowProps): ReactNode {
  const { tenants: texts } = useTexts();
  const hint = useId();
  const [{ id, name }, set] = useDraft('new', { id: '', name: '' });
  const task = useTask(async () => {
    await create(id.trim(), name.trim());
    onDone();
  });
  const { save, problemAt } = useRequired(task, { name: [name, texts.nameRequired], id: [id, texts.idRequired] });
  return (
    <Form busy={task.busy} onSubmit={save}>
      <Failure error={task.error} />
      <Field
        label={texts.name}
        value={name}
        onChange={(next) => set({ id, name: next })}
        error={problemAt('name')}
        autoComplete="off"
        maxLength={255}
        autoFocus
        required
      />
      <Field
        label={texts.id}
        value={id}
        onChange={(next) => set({ id: next, name })}
        error={problemAt('id')}
        describedBy={hint}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={64}
        required
      />
      <p className="note" id={hint}>
        {idHint}
      </p>
      <FormActions label={submit} busy={task.busy} busyLabel={texts.saving} onCancel={onCancel} />
    </Form>
  );
}

interface RenameProps {
  readonly name: string;
  /** The name of the form, on a page with several of them. */
  readonly draft?: string;
  readonly rename: (name: string) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** Changes the name of a tenant or unit in its place. */
export function Rename({ name: former, draft = 'name', rename, onDone, onCancel }: RenameProps): ReactNode {
  const { tenants: texts } = useTexts();
  const [{ name }, set] = useDraft(draft, { name: former });
  const task = useTask(async () => {
    if (name.trim() !== former) await rename(name.trim());
    onDone();
  });
  const { save, problemAt } = useRequired(task, { name: [name, texts.nameRequired] });
  return (
    <div className="rename" onKeyDown={(event) => event.key === 'Escape' && onCancel()}>
      <Form busy={task.busy} onSubmit={save}>
        <Failure error={task.error} />
        <Field
          label={texts.name}
          value={name}
          onChange={(next) => set({ name: next })}
          error={problemAt('name')}
          autoComplete="off"
          maxLength={255}
          autoFocus
          required
        />
        <FormActions label={texts.save} busy={task.busy} busyLabel={texts.saving} onCancel={onCancel} />
      </Form>
    </div>
  );
}
