import { hasSingleKeys } from './single-keys';

const searchField = '.filters input[type=search]';

/** What opens a row: its link, or the button that shows more about it. */
const stopOf = (row: Element): HTMLElement | null =>
  row.querySelector<HTMLElement>('.row-link') ??
  row.querySelector<HTMLElement>('[aria-expanded]') ??
  row.querySelector<HTMLElement>('a[href], button');

const stepOf = (key: string): number | undefined => {
  if (key === 'ArrowDown' || (key === 'j' && hasSingleKeys())) return 1;
  if (key === 'ArrowUp' || (key === 'k' && hasSingleKeys())) return -1;
  return { Home: -Infinity, End: Infinity }[key];
};

/**
 * The keys of a list: the arrows, j and k lead from row to row and from the search to the rows, Enter opens as the browser
 * does, Space selects. They act only while the list or its search has the focus, so that no key is taken from anything else.
 */
export function onListKey(event: KeyboardEvent, main: HTMLElement): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.defaultPrevented) return;
  const active = document.activeElement;
  if (active === null) return;
  const search = main.querySelector<HTMLElement>(searchField);
  if (active === search) {
    if (event.key === 'ArrowDown') focus(rowsOf(main.querySelector('tbody'))[0], event);
    return;
  }
  if (active.matches('input:not([type=checkbox]), select, textarea')) return;
  const within = active.closest('tbody > tr');
  const row = within?.matches('.detail') ? within.previousElementSibling : within;
  if (row == null) return;
  if (event.key === ' ' && active.matches('.row-link')) {
    const box = row.querySelector<HTMLInputElement>('.check input');
    if (box === null) return;
    event.preventDefault();
    box.click();
    return;
  }
  const step = stepOf(event.key);
  if (step === undefined) return;
  const rows = rowsOf(row.parentElement);
  const wanted = rows.findIndex((one) => one.row === row) + step;
  if (wanted < 0 && step === -1) focus(search === null ? undefined : { stop: search }, event);
  else focus(rows[Math.min(Math.max(wanted, 0), rows.length - 1)], event);
}

const rowsOf = (body: Element | null) =>
  [...(body?.querySelectorAll(':scope > tr:not(.detail)') ?? [])].flatMap((row) => {
    const stop = stopOf(row);
    return stop === null ? [] : [{ row, stop }];
  });

function focus(to: { readonly stop: HTMLElement } | undefined, event: KeyboardEvent): void {
  if (to === undefined) return;
  event.preventDefault();
  to.stop.focus();
}

/** Moves the focus to the search of the page. @returns false when the page has none */
export function focusSearch(): boolean {
  const search = document.querySelector<HTMLElement>(`main ${searchField}, main .filters input`);
  search?.focus();
  return search !== null;
}
