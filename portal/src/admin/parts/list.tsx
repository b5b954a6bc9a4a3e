import { type ReactNode, useEffect, useRef } from 'react';
import { fill, useSpeech } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import type { Rows } from '../use-loaded';
import { ErrorState, LoadingState } from './states';
import { type Column, type Order, Table } from './table';

interface ListProps<T> {
  readonly of: Rows<T>;
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  readonly detail?: (row: T) => ReactNode;
  readonly order?: Order;
  /** Shown in place of the table when there are no rows. */
  readonly empty: ReactNode;
}

/** The rows of a list with a button for more, and the states in which there are none. */
export function List<T>({ of, caption, columns, keyOf, detail, order, empty }: ListProps<T>): ReactNode {
  const { list } = useTexts();
  const { rows, error, loading, more, reload } = of;
  const total = useTotal(of);
  const searching = useFurther(of);
  if (rows === undefined)
    return error === undefined ? <LoadingState lines={8} /> : <ErrorState error={error} retry={reload} />;
  return (
    <>
      <p className="heard" role="status">
        {!loading && (total ?? fill(more === undefined ? list.shownAll : list.shown, { count: rows.length }))}
      </p>
      {total !== undefined && rows.length > 0 && <p className="note total">{total}</p>}
      {searching ? (
        <p className="note searching">{list.further}</p>
      ) : rows.length === 0 && more === undefined && error === undefined ? (
        empty
      ) : rows.length === 0 ? null : (
        <Table
          caption={caption}
          columns={columns}
          rows={rows}
          keyOf={keyOf}
          busy={loading}
          order={order}
          detail={detail}
        />
      )}
      <ErrorState error={error} retry={more ?? reload} />
      {more !== undefined && error === undefined && !searching && (
        <div className="more">
          <button type="button" className="secondary" disabled={loading} onClick={more}>
            {rows.length === 0 ? list.continue : list.more}
          </button>
          {total === undefined && <span className="note">{fill(list.shown, { count: rows.length })}</span>}
        </div>
      )}
    </>
  );
}

/** "50 of 1,234", of a list that counts its rows. */
function useTotal<T>({ rows, total }: Rows<T>): string | undefined {
  const { list } = useTexts();
  const { language } = useSpeech();
  if (rows === undefined || total === undefined) return undefined;
  const [shown, all] = [rows.length, total ?? countedRows].map((n) => new Intl.NumberFormat(language).format(n));
  return fill(total === null ? list.shownOfMany : list.shownOf, { count: shown!, total: all! });
}

/** A list counts so many rows. */
const countedRows = 10_000;

/** So many pages without a row are read without a click. */
const emptyPages = 10;

/**
 * One request looks at a limited number of rows, so a page can be empty although older rows match. Reads on until there
 * is a row. @returns whether it still does
 */
function useFurther<T>({ rows, loading, error, more }: Rows<T>): boolean {
  const read = useRef(0);
  const none = rows?.length === 0 && more !== undefined && error === undefined;
  if (!none) read.current = 0;
  const searching = none && read.current < emptyPages;
  useEffect(() => {
    if (!searching || loading) return;
    read.current++;
    more?.();
  });
  return searching;
}
