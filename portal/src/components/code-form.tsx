import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { useSpeech } from '../i18n/texts';
import type { Task } from '../use-task';
import { Field } from './fields';
import { Form } from './form';
import { Failure } from './message';
import { Submit } from './submit';

/** Accepts six digits with spaces between them, also full-width digits. */
const isCode = (text: string): boolean => /^\d{6}$/.test(text.normalize('NFKC').replace(/\s/g, ''));

interface CodeFormProps {
  readonly label: string;
  readonly name: string;
  readonly texts: { readonly submit: string; readonly busy: string; readonly wait?: string };
  readonly task: Task<[code: string]>;
  /** Seconds until the next code may be sent. */
  readonly wait?: number;
  readonly autoFocus?: boolean;
  /** Added to the message about a refused code. */
  readonly refused?: string;
  /** Shown while there is no error, so that there is one message at a time. */
  readonly notice?: ReactNode;
  readonly onSubmit?: () => void;
  /** The sixth digit submits the form. Turn it off if the user has another choice to make. */
  readonly autoSubmit?: boolean;
  /** Shown above the submit button. */
  readonly children?: ReactNode;
}

/** A form with one field for six digits. */
export function CodeForm(props: CodeFormProps): ReactNode {
  const { label, name, texts, task, wait = 0, autoFocus = false, refused, notice, onSubmit, autoSubmit = true } = props;
  const { t } = useSpeech();
  const [code, setCode] = useState('');
  const [malformed, setMalformed] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const message = useId();
  const wrong = task.error instanceof ServiceError && task.error.status === 401;

  // Clears a refused code. After any other error, the user can send the same code again.
  useEffect(() => {
    if (wrong) setCode('');
  }, [wrong, task.error]);
  useEffect(() => {
    if (autoSubmit && isCode(code) && wait === 0) input.current?.form?.requestSubmit();
    // Only a new digit submits. A code that was typed during a wait is not sent when the wait ends.
  }, [code]);

  const submit = () => {
    onSubmit?.();
    setMalformed(!isCode(code));
    if (isCode(code)) void task.run(code);
    else task.reset();
  };
  const shown = !malformed && task.error !== undefined;
  return (
    <Form busy={task.busy} onSubmit={submit}>
      {shown && (
        <Failure id={message} error={task.error}>
          {wrong && refused}
        </Failure>
      )}
      {!malformed && task.error === undefined && notice}
      <Field
        label={label}
        name={name}
        className="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        spellCheck={false}
        // Pasted codes may contain spaces.
        maxLength={12}
        value={code}
        onChange={(text) => {
          setMalformed(false);
          setCode(text);
        }}
        inputRef={input}
        autoFocus={autoFocus}
        error={malformed ? t.code.malformed : undefined}
        errorId={shown && wrong ? message : undefined}
        required
      />
      {props.children}
      <Submit label={texts.submit} busy={task.busy} busyLabel={texts.busy} wait={wait} waitLabel={texts.wait} />
    </Form>
  );
}
