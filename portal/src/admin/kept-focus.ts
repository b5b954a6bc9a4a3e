import { useEffect } from 'react';

/**
 * Keeps the place of the keyboard. When what has the focus disappears, for example the row of a deleted entry or the button
 * that a change has replaced, the focus moves to the nearest heading that is left, and not to the top of the document.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: HTMLElement | undefined;
    let around: readonly Element[] = [];
    let title: string | undefined;
    const onFocus = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement) || target.closest('main') === null) return;
      last = target;
      around = [...ancestors(target)];
      title = around.map(headingOf).find((one) => one !== null)?.textContent;
    };
    // A click beside everything takes the focus from an element that is still there. Then there is nothing to keep. A button
    // that is disabled during its request also loses the focus, and its place counts.
    const isLeft = (one: HTMLElement | undefined) => one?.isConnected && !one.matches(':disabled');
    const onBlur = () => {
      const left = last;
      setTimeout(() => {
        if (document.activeElement === document.body && last === left && isLeft(left)) last = undefined;
      });
    };
    const keep = () => {
      if (last === undefined || last.isConnected || document.activeElement !== document.body) return;
      const place = around.find((one) => one.isConnected && headingOf(one) !== null);
      // A form can be in the place of a card with the same title.
      const alike = [...document.querySelectorAll<HTMLElement>('main h2')].find((one) => one.textContent === title);
      const heading = alike ?? (place && headingOf(place)) ?? document.querySelector<HTMLElement>('main h1');
      last = undefined;
      if (heading === null) return;
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(keep);
    observer.observe(document.body, { childList: true, subtree: true });
    document.addEventListener('focusin', onFocus);
    document.addEventListener('focusout', onBlur);
    return () => {
      observer.disconnect();
      document.removeEventListener('focusin', onFocus);
      document.removeEventListener('focusout', onBlur);
    };
  }, []);
}

function* ancestors(of: Element): Generator<Element> {
  for (let one = of.parentElement; one !== null && one.tagName !== 'MAIN'; one = one.parentElement) yield one;
}

const headingOf = (place: Element): HTMLElement | null => place.querySelector<HTMLElement>('h1, h2');
