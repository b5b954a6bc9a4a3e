import { useEffect } from 'react';

/** The questions of the forms on the page that have changes. */
const asking = new Set<() => boolean>();
/** The page itself leads elsewhere, for example after saving, or the user has said so. */
let led = false;

/** Called before the page leads elsewhere by itself. The form may not be rendered without its changes yet. */
export function leadElsewhere(): void {
  led = true;
}

/** Whether the page may be left: nothing is unsaved, or the user says so. */
export const mayLeave = (): boolean => [...asking].every((ask) => ask());

/** The link leads to an element of this page, for example the one that skips to the content. */
const staysHere = ({ href, hash }: HTMLAnchorElement): boolean =>
  href.split('#')[0] === location.href.split('#')[0] && document.getElementById(hash.slice(1)) !== null;

/**
 * Asks before the page is left by a link, the Back button, a reload or the end of the tab while `changed` is true.
 * @param unsaved the question
 */
export function useAskBeforeLeaving(changed: boolean, unsaved: string): void {
  useEffect(() => {
    if (!changed) return;
    const here = location.href;
    led = false;
    // A link that the user has followed also fires `popstate`, and is not asked about again, nor by another form.
    const mine = () => led || (led = confirm(unsaved));
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
      const elsewhere = link?.target === '_blank' || event.ctrlKey || event.metaKey || event.shiftKey;
      if (link === null || elsewhere || staysHere(link) || event.button !== 0 || mine()) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    const onBack = (event: PopStateEvent) => {
      if (mine()) return;
      // The browser has gone back already. The router does not hear of it, and the entry that was left is made again.
      event.stopImmediatePropagation();
      history.pushState(history.state, '', here);
    };
    const onUnload = (event: BeforeUnloadEvent) => led || event.preventDefault();
    asking.add(mine);
    document.addEventListener('click', onClick, { capture: true });
    addEventListener('popstate', onBack, { capture: true });
    addEventListener('beforeunload', onUnload);
    return () => {
      asking.delete(mine);
      document.removeEventListener('click', onClick, { capture: true });
      removeEventListener('popstate', onBack, { capture: true });
      removeEventListener('beforeunload', onUnload);
    };
  }, [changed, unsaved]);
}
