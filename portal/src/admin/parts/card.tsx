import { type ReactNode, useId } from 'react';

interface CardProps {
  readonly title: string;
  readonly note?: ReactNode;
  /** Beside the title. */
  readonly action?: ReactNode;
  readonly danger?: boolean;
  readonly children: ReactNode;
}

export function Card({ title, note, action, danger = false, children }: CardProps): ReactNode {
  const id = useId();
  return (
    <section className={danger ? 'box danger' : 'box'} aria-labelledby={id}>
      <div className="box-head">
        <h2 id={id}>{title}</h2>
        {action}
      </div>
      {note !== undefined && <p className="note">{note}</p>}
      {children}
    </section>
  );
}
