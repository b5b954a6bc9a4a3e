import type { ReactNode } from 'react';

export interface RowButtonProps {
  readonly text: string;
  /** The thing that the button acts on, for screen readers. */
  readonly of: string;
  readonly onClick: () => void;
}

/** A button of a row, or of one entry of a list. */
export function RowButton({ text, of, onClick }: RowButtonProps): ReactNode {
  return (
    <button type="button" className="secondary small" aria-label={`${text}: ${of}`} onClick={onClick}>
      {text}
    </button>
  );
}
