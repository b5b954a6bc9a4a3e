import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Field } from '../../components/fields';
import { Form } from '../../components/form';
import { Failure } from '../../components/message';
import { useSpeech } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { useTexts } from '../i18n/texts';
import '../../styles/dialog.css';

interface DialogProps {
  readonly title: string;
  /** What the action does, one sentence or a list of them. */
  readonly children: ReactNode;
  /** The label of the button that acts. It names the action. */
  readonly action: string;
  readonly danger?: boolean;
  /** The action waits until the user has typed this text. */
  readonly typed?: { readonly text: string; readonly label: string };
  /** False while a field of the dialog is empty. */
  readonly filled?: boolean;
  readonly run: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/**
 * Asks before an action. The native element holds the focus inside, closes with Escape, and gives the focus back to the
 * button that opened it.
 */
export function Dialog({
  title,
  children,
  action,
  danger = false,
  typed,
  filled = true,
  run,
  onDone,
  onClose,
}: DialogProps): ReactNode {
  const { t } = useSpeech();
  const texts = useTexts();
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [text, setText] = useState('');
  const task = useTask(async () => {
    await run();
    dialog.current?.close();
    onDone();
  });
  useEffect(() => dialog.current?.showModal(), []);
  const ready = filled && (typed === undefined || text.trim() === typed.text);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      // A request that runs cannot be taken back, so the dialog stays for its answer.
      onCancel={(event) => task.busy && event.preventDefault()}
      onClose={onClose}
    >
      <Form busy={task.busy} onSubmit={() => void (ready && task.run())}>
        <h2 id={`${id}-title`}>{title}</h2>
        <div className="dialog-text" id={`${id}-text`}>
          {children}
        </div>
        <Failure error={task.error} />
        {typed !== undefined && (
          <Field
            label={typed.label}
            value={text}
            onChange={setText}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
          />
        )}
        <div className="actions">
          <button
            type="button"
            className="secondary"
            disabled={task.busy}
            onClick={() => dialog.current?.close()}
            autoFocus={typed === undefined}
          >
            {t.account.cancel}
          </button>
          <button
            type="submit"
            className={danger ? 'primary danger' : 'primary'}
            disabled={task.busy || !ready}
            aria-busy={task.busy}
          >
            {task.busy ? texts.dialog.busy : action}
          </button>
        </div>
      </Form>
    </dialog>
  );
}
