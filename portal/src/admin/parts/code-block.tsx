import type { ReactNode } from 'react';
import { Copy } from '../../components/copy';
import { useTexts } from '../i18n/texts';

interface CodeBlockProps {
  /** The file or place that the text belongs to. */
  readonly place: string;
  readonly text: string;
}

/** Settings to copy. The text scrolls inside its box, also by the keyboard. */
export function CodeBlock({ place, text }: CodeBlockProps): ReactNode {
  const { list } = useTexts();
  return (
    <figure className="code-block">
      <figcaption>
        <code>{place}</code>
        <Copy text={text} label={list.copy} what={place} />
      </figcaption>
      <pre tabIndex={0} role="group" aria-label={place}>
        {text}
      </pre>
    </figure>
  );
}
