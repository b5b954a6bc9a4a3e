import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { Check, Info, Warning } from '../../components/icons';
import { failureTemplate } from '../../i18n/failure-text';
import { fill, useSpeech } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { useTexts } from '../i18n/texts';
import { complain, dismiss, say, shownToasts, type Toast } from '../toasts';
import { Cross } from './icons';

/** A result with a way back stays longer. WCAG 2.2.1: it waits while it has the focus, the pointer, or no reader. */
const stayMs = { done: 6_000, undo: 12_000 };

/** What had the focus before the key led to the toasts. */
let before: HTMLElement | undefined;

/** Moves the focus to the newest toast, and back. */
export function focusToasts(): void {
  const region = document.querySelector('.toasts');
  const active = document.activeElement;
  if (region?.contains(active)) return focusBack();
  before = active instanceof HTMLElement ? active : undefined;
  [...(region?.querySelectorAll<HTMLElement>('.toast') ?? [])].at(-1)?.querySelector('button')?.focus();
}

function focusBack(): void {
  if (before?.isConnected && before !== document.body) before.focus();
  else document.querySelector<HTMLElement>('main h1')?.focus();
  before = undefined;
}

/** The results of actions, in the one live region that says each of them once. A toast never takes the focus by itself. */
export function Toasts(): ReactNode {
  const { toasts: texts } = useTexts();
  const toasts = useSyncExternalStore(shownToasts.subscribe, shownToasts.get);
  const textOf = useText();
  const newest = toasts.at(-1);
  const region = useRef<HTMLElement>(null);
  // Pressed buttons go away with their toast.
  const close = (id: number) => {
    const focused = region.current?.contains(document.activeElement);
    dismiss(id);
    if (focused) focusBack();
  };
  return (
    <section
      ref={region}
      aria-label={texts.label}
      onKeyDown={(event) => event.key === 'Escape' && newest !== undefined && close(newest.id)}
    >
      <div className="toasts" role="status" aria-atomic="false">
        {toasts.map((toast) => (
          <One key={toast.id} toast={toast} text={textOf(toast)} onClose={() => close(toast.id)} />
        ))}
      </div>
    </section>
  );
}

function useText(): (toast: Toast) => string {
  const { t } = useSpeech();
  return ({ text, error }) => {
    if (error === undefined) return text;
    const { text: template, seconds } = failureTemplate(t, error);
    return fill(template, { seconds });
  };
}

interface OneProps {
  readonly toast: Toast;
  readonly text: string;
  readonly onClose: () => void;
}

function One({ toast: { error, undo }, text, onClose }: OneProps): ReactNode {
  const { toasts: texts } = useTexts();
  const [held, setHeld] = useState(false);
  const task = useTask(async () => {
    try {
      const told = await undo!();
      onClose();
      say(told);
    } catch (failure) {
      onClose();
      complain(failure);
    }
  });
  const stays = error !== undefined || held || task.busy;
  const latest = useRef(onClose);
  useEffect(() => {
    latest.current = onClose;
  });
  useEffect(() => {
    if (stays) return undefined;
    const timer = setTimeout(() => latest.current(), undo === undefined ? stayMs.done : stayMs.undo);
    return () => clearTimeout(timer);
  }, [stays, undo]);
  // Users who have closed the question who they are have made no mistake.
  const closed = error instanceof ServiceError && error.code === 'AUTH_403002';
  return (
    <div
      className={error === undefined || closed ? 'toast' : 'toast bad'}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={({ currentTarget }) => setHeld(currentTarget.contains(document.activeElement))}
      onFocus={() => setHeld(true)}
      onBlur={({ currentTarget, relatedTarget }) =>
        setHeld(currentTarget.contains(relatedTarget) || currentTarget.matches(':hover'))
      }
    >
      {error === undefined ? <Check /> : closed ? <Info /> : <Warning />}
      <p>{text}</p>
      {undo !== undefined && (
        <button type="button" className="secondary small" aria-busy={task.busy} onClick={() => void task.run()}>
          {texts.undo}
        </button>
      )}
      <button type="button" className="icon-button" aria-label={texts.close} title={texts.close} onClick={onClose}>
        <Cross />
      </button>
    </div>
  );
}
