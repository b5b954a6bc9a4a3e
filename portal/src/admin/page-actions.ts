import { useEffect, useRef } from 'react';

/** Something that the page offers behind a button: what the button is called, and what it opens. */
export interface PageAction {
  readonly label: string;
  readonly open: () => void;
}

const offered = new Set<() => PageAction>();

/** The actions of the page that is shown, in the order of its buttons. */
export const pageActions = (): readonly PageAction[] => [...offered].map((get) => get());

/** Offers a button of the page in the palette as well, which then opens the same dialog. Undefined: not possible now. */
export function usePageAction(label: string, open: (() => void) | undefined): void {
  const latest = useRef({ label, open: open! });
  useEffect(() => {
    latest.current = { label, open: open! };
  });
  const possible = open !== undefined;
  useEffect(() => {
    if (!possible) return undefined;
    const get = () => latest.current;
    offered.add(get);
    return () => void offered.delete(get);
  }, [possible]);
}
