import { type ReactNode, useId, useState } from 'react';
import { Field } from '../../components/fields';
import { Form } from '../../components/form';
import { Failure } from '../../components/message';
import { Submit } from '../../components/submit';
import { useSpeech } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { problemsOf } from '../drafts';
import { useTexts } from '../i18n/texts';
import { useDraft } from '../use-draft';

interface NewRowProps {
  readonly submit: string;
  readonly idHint: string;
  readonly create: (id: string, name: string) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** A form for a new tenant or unit. The id cannot be changed later. */
export function NewRow({ submit, idHint, create, onDone, onCancel }: NewRowProps): ReactNode {
  const { t } = useSpeech();
  const { tenants: texts } = useTexts();
  const hint = useId();
  const [checked, setChecked] = useState(false);
  const [{ id, name }, set] = useDraft('new', { id: '', name: '' });
  const task = useTask(async () => {
    await create(id.trim(), name.trim());
    onDone();
  });
  const missing = { id: id.trim() === '', name: name.trim() === '' };
  const problem = problemsOf(task.error);
  const save = () => {
    setChecked(true);
    if (missing.id || missing.name) task.reset();
    else void task.run();
  };
  return (
    <Form busy={task.busy} onSubmit={save}>
      <Failure error={task.error} />
      <Field
        label={texts.name}
        value={name}
        onChange={(next) => set({ id, name: next })}
        error={checked && missing.name ? texts.nameRequired : problem('name')}
        autoComplete="off"
        maxLength={255}
        autoFocus
        required
      />
      <Field
        label={texts.id}
        value={id}
        onChange={(next) => set({ id: next, name })}
        error={checked && missing.id ? texts.idRequired : problem('id')}
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
      <div className="actions start">
        <Submit label={submit} busy={task.busy} busyLabel={texts.saving} />
        <button type="button" className="secondary" onClick={onCancel}>
          {t.account.cancel}
        </button>
      </div>
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
  const { t } = useSpeech();
  const { tenants: texts } = useTexts();
  const [checked, setChecked] = useState(false);
  const [{ name }, set] = useDraft(draft, { name: former });
  const task = useTask(async () => {
    if (name.trim() !== former) await rename(name.trim());
    onDone();
  });
  return (
    <div className="rename" onKeyDown={(event) => event.key === 'Escape' && onCancel()}>
      <Form
        busy={task.busy}
        onSubmit={() => {
          setChecked(true);
          if (name.trim() === '') task.reset();
          else void task.run();
        }}
      >
        <Failure error={task.error} />
        <Field
          label={texts.name}
          value={name}
          onChange={(next) => set({ name: next })}
          error={checked && name.trim() === '' ? texts.nameRequired : problemsOf(task.error)('name')}
          autoComplete="off"
          maxLength={255}
          autoFocus
          required
        />
        <div className="actions start">
          <Submit label={texts.save} busy={task.busy} busyLabel={texts.saving} />
          <button type="button" className="secondary" onClick={onCancel}>
            {t.account.cancel}
          </button>
        </div>
      </Form>
    </div>
  );
}
