import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';

interface FormProps {
  readonly busy: boolean;
  readonly onSubmit: () => void;
  /** Called whenever a field of the form gets the focus. */
  readonly onFocus?: () => void;
  readonly children: ReactNode;
}

/**
 * A form that shows its errors itself. After a refused submit, the focus moves to the first field with an error, or to
 * the message above the fields. The submit button has lost the focus, because it was disabled during the request.
 */
export function Form({ busy, onSubmit, onFocus, children }: FormProps): ReactNode {
  const form = useRef<HTMLFormElement>(null);
  const submitted = useRef(false);
  // Renders the form again, so that the effect runs even when a second refusal changes no other state.
  const [, setSubmits] = useState(0);

  useEffect(() => {
    if (!submitted.current || busy) return;
    submitted.current = false;
    const wrong = ['[aria-invalid="true"]', '[role="alert"]'].map((one) =>
      form.current?.querySelector<HTMLElement>(one),
    );
    wrong.find((element) => element != null)?.focus();
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    submitted.current = true;
    setSubmits((count) => count + 1);
    onSubmit();
  };
  return (
    <form ref={form} onSubmit={submit} onFocus={onFocus} noValidate>
      {children}
    </form>
  );
}
