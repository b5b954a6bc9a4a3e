import { type ReactNode, type SubmitEvent, useState } from 'react';
import { textOf } from './auth';

interface FormProps {
  readonly title: string;
  readonly submit: string;
  /** Seconds until the form may be sent again. */
  readonly wait?: number;
  readonly action: (data: FormData) => Promise<unknown>;
  readonly children: ReactNode;
}

/** A form that shows why its action failed. */
export function Form({ title, submit, wait = 0, action, children }: FormProps) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();

  const send = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    await action(new FormData(event.currentTarget)).catch((error: unknown) => setProblem(textOf(error)));
    setBusy(false);
  };
  return (
    <form onSubmit={(event) => void send(event)}>
      <h1>{title}</h1>
      {problem !== undefined && <p role="alert">{problem}</p>}
      {children}
      <button disabled={busy || wait > 0}>{wait > 0 ? `${submit} (in ${wait} s)` : submit}</button>
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly type?: 'text' | 'password';
  readonly autoComplete: string;
}

export function Field({ label, name, type = 'text', autoComplete }: FieldProps) {
  return (
    <p>
      <label>
        {label} <input name={name} type={type} autoComplete={autoComplete} required />
      </label>
    </p>
  );
}

/** The text of a field. */
export function text(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === 'string' ? value : '';
}
