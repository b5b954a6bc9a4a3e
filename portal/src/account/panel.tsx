import { type ReactNode, useEffect, useRef } from 'react';
import type { MeResponse } from '@portal-auth/sdk';

/** What a card about the account gets. */
export interface AccountCardProps {
  readonly me: MeResponse;
  /** The card has changed what `GET /user/me` answers. */
  readonly onChanged: () => void;
}

interface PanelProps {
  /** Also the fragment of the address that leads to this card: `/account/security#recovery-codes`. */
  readonly id: string;
  readonly title: string;
  readonly children: ReactNode;
}

/** One card of the account page. A login that was repeated for this card ends at its heading. */
export function Panel({ id, title, children }: PanelProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (location.hash !== `#${id}`) return;
    heading.current?.focus();
    // A later reload starts at the top of the page.
    history.replaceState(history.state, '', location.pathname + location.search);
  }, [id]);
  return (
    <section className="panel" aria-labelledby={id}>
      <h2 id={id} ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </section>
  );
}

/** Moves the focus to the heading of the page. Call it when a focused button above the cards has disappeared. */
export function focusTitle(): void {
  document.querySelector<HTMLElement>('main h1')?.focus();
}

/** Moves the focus to the heading of a card. Call it when the focused button of the card has disappeared. */
export function focusPanel(id: string): void {
  document.getElementById(id)?.focus();
}
