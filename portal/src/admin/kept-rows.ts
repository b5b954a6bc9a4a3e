import { useEffect, useRef, useState } from 'react';
import type { Pages } from '@portal-auth/sdk/admin';
import { setParam, usePlace } from './place';
import { type Rows, useRows } from './use-loaded';

/** The rows of a page where none are asked for, and the most of one request. */
const [pageRows, longPage] = [50, 200];
/** More rows are not read again without a click. */
const mostRows = 1000;

/**
 * The rows of a list whose length is in the address as `rows`. After Back, a reload or a link, as many rows are read again, and
 * Back and a reload also scroll to where the page was. `key` names the question, for example its filters.
 */
export function useKeptRows<T>(list: Pages<T>, key: string): Rows<T> {
  const wanted = Math.min(Number(usePlace().params.get('rows')) || pageRows, mostRows);
  // The length of a list that grows by a click is read once: the first page must not be read again.
  const [first, setFirst] = useState({ key, wanted });
  const start = first.key === key ? first : { key, wanted };
  if (start !== first) setFirst(start);
  const rows = useRows(list, key, start.wanted > pageRows ? Math.min(start.wanted, longPage) : undefined);
  const { more, loading, error } = rows;
  const count = rows.rows?.length ?? 0;
  const restoring = more !== undefined && error === undefined && count > 0 && count < start.wanted;
  const asked = useRef(0);
  useEffect(() => {
    if (!restoring || loading || asked.current === count) return;
    asked.current = count;
    more();
  });
  useKeptScroll(rows.rows !== undefined && !restoring);
  return {
    ...rows,
    more:
      more &&
      (() => {
        setParam('rows', String(count + pageRows));
        more();
      }),
  };
}

/** Scrolls to where this entry of the browser's history was left, when its rows are there. */
function useKeptScroll(ready: boolean): void {
  const [top] = useState(() => (history.state as { top?: number } | null)?.top);
  const done = useRef(false);
  useEffect(() => {
    if (!ready || done.current) return;
    done.current = true;
    if (top !== undefined) scrollTo(0, top);
  }, [ready, top]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const here = location.hash;
    const keep = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        // The page may have led elsewhere meanwhile, whose entry has a position of its own.
        if (location.hash.split('?')[0] !== here.split('?')[0]) return;
        history.replaceState({ ...(history.state as object | null), top: scrollY }, '');
      }, 100);
    };
    addEventListener('scroll', keep, { passive: true });
    return () => {
      clearTimeout(timer);
      removeEventListener('scroll', keep);
    };
  }, []);
}
