import { type ReactNode, useState } from 'react';
import { useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';

/** Copies a text, and says so on the button. */
export function Copy({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const { t } = useSpeech();
  const [copied, setCopied] = useState(false);
  const copy = useTask(async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  });
  return (
    <button type="button" className="secondary small" onClick={() => void copy.run()}>
      {copied ? t.totp.copied : label}
    </button>
  );
}
