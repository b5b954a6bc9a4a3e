import { useEffect } from 'react';
import { useTexts } from './i18n/texts';

/** The question of the form on the page that has changes. */
let ask: (() => boolean) | undefined;
/** The page itself leads elsewhere, for example after saving. */
let led = false;

/** Called before the page leads elsewhere by itself. The form may not be rendered without its changes yet. */
export function leadElsewhere(): void {
  led = true;
}

/** Whether the page may be left: nothing is unsaved, or the user says so. */
export const mayLeave = (): boolean => ask?.() ?? true;

/** Asks before the page is left by a link, the Back button, a reload or the end of the tab while `changed` is true. */
export function useUnsaved(changed: boolean): void {
  const { unsaved } = useTexts();
  useEffect(() => {
    if (!changed) return;
    const here = location.href;
    // A link that the user has followed also fires `popstate`, and is not asked about again.
    let leaving = false;
    led = false;
    const mine = () => led || leaving || (leaving = confirm(unsaved));
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
      const elsewhere = link?.getAttribute('target') === '_blank' || event.ctrlKey || event.metaKey || event.shiftKey;
      if (link === null || elsewhere || event.button !== 0 || mine()) return;
      event.preventDefault();
      event.stopPropagation();
    };
    const onBack = (event: PopStateEvent) => {
      if (mine()) return;
      // The browser has gone back already. The router does not hear of it, and the entry that was left is made again.
      event.stopImmediatePropagation();
      history.pushState(history.state, '', here);
    };
    const onUnload = (event: BeforeUnloadEvent) => leaving || event.preventDefault();
    ask = mine;
    document.addEventListener('click', onClick, { capture: true });
    addEventListener('popstate', onBack, { capture: true });
    addEventListener('beforeunload', onUnload);
    return () => {
      ask = undefined;
      document.removeEventListener('click', onClick, { capture: true });
      removeEventListener('popstate', onBack, { capture: true });
      removeEventListener('beforeunload', onUnload);
    };
  }, [changed, unsaved]);
}
