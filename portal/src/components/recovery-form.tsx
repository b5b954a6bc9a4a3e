import { type ReactNode, useEffect, useId, useState } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { inARow, useSpeech } from '../i18n/texts';
import type { Task } from '../use-task';
import { Field } from './fields';
import { Form } from './form';
import { Failure } from './message';
import { Submit } from './submit';

/** Ten letters and digits. The case, the hyphen and spaces do not matter. */
const isRecoveryCode = (text: string): boolean => /^[0-9a-z]{10}$/i.test(text.normalize('NFKC').replace(/[\s-]/g, ''));

interface RecoveryFormProps {
  readonly task: Task<[code: string]>;
  /** Seconds until the next code may be sent. */
  readonly wait: number;
  /** Added to the message about a refused code. */
  readonly refused: string;
  /** Shown above the submit button. */
  readonly children?: ReactNode;
}

/** A form for one recovery code, in place of the code of a lost phone. */
export function RecoveryForm({ task, wait, refused, children }: RecoveryFormProps): ReactNode {
  const { t } = useSpeech();
  const [code, setCode] = useState('');
  const [malformed, setMalformed] = useState(false);
  const message = useId();
  const wrong = task.error instanceof ServiceError && task.error.status === 401;
  useEffect(() => {
    if (wrong) setCode('');
  }, [wrong, task.error]);

  const submit = () => {
    setMalformed(!isRecoveryCode(code));
    if (isRecoveryCode(code)) void task.run(code);
    else task.reset();
  };
  return (
    <Form busy={task.busy} onSubmit={submit}>
      {wrong ? (
        <Failure id={message} error={task.error} text={inARow(t.code.recovery.refused, refused)} />
      ) : (
        <Failure error={task.error} />
      )}
      <Field
        label={t.code.recovery.label}
        name="recovery-code"
        className="code recovery"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={20}
        value={code}
        onChange={(text) => {
          setMalformed(false);
          setCode(text);
        }}
        error={malformed ? t.code.recovery.malformed : undefined}
        errorId={wrong ? message : undefined}
        autoFocus
        required
      />
      {children}
      <Submit label={t.code.submit} busy={task.busy} busyLabel={t.code.busy} wait={wait} waitLabel={t.code.wait} />
    </Form>
  );
}
