import { type ReactNode, useEffect, useRef, useState } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { failureTemplate } from '../i18n/failure-text';
import { useSpeech } from '../i18n/texts';
import { Check, Info, Warning } from './icons';

interface MessageProps {
  readonly kind: 'error' | 'info' | 'success' | 'warning';
  readonly id?: string;
  /**
   * The message takes the focus when it appears, which also scrolls it into view. For the result of an action whose
   * button disappears: the focus would be lost, and the message could be out of sight.
   */
  readonly focused?: boolean;
  readonly children: ReactNode;
}

/** A screen reader reads an error at once and other messages at its next pause. A form moves the focus to its error. */
export function Message({ kind, id, focused = false, children }: MessageProps): ReactNode {
  const error = kind === 'error';
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focused) element.current?.focus();
  }, [focused, children]);
  return (
    <div
      ref={element}
      className={`message ${kind}`}
      id={id}
      role={error ? 'alert' : 'status'}
      tabIndex={error || focused ? -1 : undefined}
    >
      {error || kind === 'warning' ? <Warning /> : kind === 'info' ? <Info /> : <Check />}
      <div>{children}</div>
    </div>
  );
}

interface FailureProps {
  readonly error: unknown;
  readonly id?: string;
  /** In place of the text of the error code. */
  readonly text?: string | undefined;
  /** Added to the text. */
  readonly children?: ReactNode;
}

/** Shows nothing when there is no error. */
export function Failure({ error, id, text: given, children }: FailureProps): ReactNode {
  const { t } = useSpeech();
  if (error === undefined) return null;
  const { text: usual, seconds } = failureTemplate(t, error);
  const text = given ?? usual;
  // Users who have closed the dialog know why, and have made no mistake.
  if (error instanceof ServiceError && error.code === 'AUTH_403002')
    return (
      <Message kind="info" focused>
        {text}
      </Message>
    );
  const [before, after] = text.split('{seconds}');
  if (after === undefined) {
    return (
      <Message kind="error" id={id}>
        {text}
        {children && <> {children}</>}
      </Message>
    );
  }
  return <Countdown key={`${text}${seconds}`} error={error} seconds={seconds} id={id} before={before} after={after} />;
}

interface CountdownProps {
  readonly error: unknown;
  readonly seconds: number;
  readonly id?: string | undefined;
  readonly before: string | undefined;
  readonly after: string;
}

/** Counts the seconds of a wait, and disappears at its end. A screen reader does not read each second. */
function Countdown({ error, seconds, id, before, after }: CountdownProps): ReactNode {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    const end = Date.now() + seconds * 1000;
    setLeft(seconds);
    const timer = setInterval(() => setLeft(Math.max(0, Math.ceil((end - Date.now()) / 1000))), 1000);
    return () => clearInterval(timer);
  }, [error, seconds]);
  if (left === 0) return null;
  return (
    <Message kind="error" id={id}>
      {before}
      <span className="count" aria-live="off">
        {left}
      </span>
      {after}
    </Message>
  );
}
