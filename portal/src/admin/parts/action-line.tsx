import type { PropsWithChildren, ReactNode } from 'react';
import { usePageAction } from '../page-actions';

interface ActionLineProps {
  readonly texts: Readonly<Record<'label' | 'text' | 'button', string>>;
  readonly danger: boolean;
  /** Why the action is not possible now. */
  readonly why?: string | undefined;
  readonly onOpen: () => void;
}

/** What an action does, and the button that opens its dialog. The children stand below the text. */
export function ActionLine({
  texts: { label, text, button },
  danger,
  why,
  onOpen,
  children,
}: PropsWithChildren<ActionLineProps>): ReactNode {
  usePageAction(label, why === undefined ? onOpen : undefined);
  return (
    <li>
      <div>
        <p className="action-name">{label}</p>
        <p className="note">{why ?? text}</p>
        {children}
      </div>
      <button
        type="button"
        className={danger ? 'secondary small danger' : 'secondary small'}
        disabled={why !== undefined}
        aria-label={`${button}: ${label}`}
        onClick={onOpen}
      >
        {button}
      </button>
    </li>
  );
}
