import { type ReactNode, useState } from 'react';
import { useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';

interface CopyProps {
  readonly text: string;
  readonly label: string;
  /** What is copied, for screen readers, where a page has several of these buttons. */
  readonly what?: string;
}

/** Copies a text, and says so on the button. */
export function Copy({ text, label, what }: CopyProps): ReactNode {
  const { t } = useSpeech();
  const [copied, setCopied] = useState<string>();
  const copy = useTask(async () => {
    await navigator.clipboard.writeText(text);
    setCopied(text);
  });
  const done = copied === text;
  return (
    <button
      type="button"
      className="secondary small"
      aria-label={what === undefined || done ? undefined : `${label}: ${what}`}
      onClick={() => void copy.run()}
    >
      {done ? t.totp.copied : label}
    </button>
  );
}
