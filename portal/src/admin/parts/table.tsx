import { type ReactNode, useId, useState } from 'react';
import { breakable } from '../../components/breakable';
import { useTexts } from '../i18n/texts';
import { Chevron } from './icons';

export interface Column<T> {
  readonly heading: string;
  readonly cell: (row: T) => ReactNode;
  /** `main` is the title of the card that a row is on a phone. `quiet` is left out there. `check` has a check box. */
  readonly kind?: 'main' | 'quiet' | 'number' | 'end' | 'check';
  /** The order of the service that is this column ascending. A click on the heading asks for it. */
  readonly sort?: string;
}

/** The order of a list: a name, with `-` in front for descending, or empty for the usual one. */
export interface Order {
  readonly value: string;
  readonly set: (value: string) => void;
}

interface TableProps<T> {
  /** The name of the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly busy?: boolean;
  readonly order?: Order | undefined;
  /** More about a row, shown below it on demand. */
  readonly detail?: ((row: T) => ReactNode) | undefined;
}

/**
 * A table, and a list of cards on a phone. The roles are repeated, because a browser drops the meaning of table elements
 * that are displayed in another way.
 */
export function Table<T>({ caption, columns, rows, keyOf, busy = false, order, detail }: TableProps<T>): ReactNode {
  return (
    <table role="table" aria-busy={busy} className={detail === undefined ? undefined : 'with-detail'}>
      <caption className="heard">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ heading, kind, sort }) => (
            <th key={heading} scope="col" role="columnheader" className={kind} aria-sort={sortOf(sort, order)}>
              {kind === 'end' || kind === 'check' ? (
                <span className="heard">{heading}</span>
              ) : sort !== undefined && order !== undefined ? (
                <SortButton heading={heading} sort={sort} order={order} />
              ) : (
                heading
              )}
            </th>
          ))}
          {detail !== undefined && <DetailHeading />}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <Row key={keyOf(row)} row={row} columns={columns} detail={detail} />
        ))}
      </tbody>
    </table>
  );
}

function sortOf(sort: string | undefined, order: Order | undefined) {
  if (sort === undefined || order === undefined) return undefined;
  return order.value === sort ? 'ascending' : order.value === `-${sort}` ? 'descending' : 'none';
}

interface SortButtonProps {
  readonly heading: string;
  readonly sort: string;
  readonly order: Order;
}

/** Ascending, then descending, then the usual order. Times begin with the latest one. */
function SortButton({ heading, sort, order: { value, set } }: SortButtonProps): ReactNode {
  const turns = sort.endsWith('_at') ? [`-${sort}`, sort, ''] : [sort, `-${sort}`, ''];
  return (
    <>
      <button type="button" className="sort-button" onClick={() => set(turns[turns.indexOf(value) + 1] ?? turns[0]!)}>
        {heading}
        <span aria-hidden="true">{value === sort ? '↑' : value === `-${sort}` ? '↓' : '↕'}</span>
      </button>
      <span className="sort-heading">{heading}</span>
    </>
  );
}

function DetailHeading(): ReactNode {
  const { list } = useTexts();
  return (
    <th scope="col" role="columnheader" className="end">
      <span className="heard">{list.details}</span>
    </th>
  );
}

type RowProps<T> = Pick<TableProps<T>, 'columns' | 'detail'> & { readonly row: T };

function Row<T>({ row, columns, detail }: RowProps<T>): ReactNode {
  const { list } = useTexts();
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <tr role="row">
        {columns.map(({ heading, cell, kind }) => (
          <td key={heading} role="cell" className={kind} data-label={heading}>
            <div className="cell">{breakable(cell(row))}</div>
          </td>
        ))}
        {detail !== undefined && (
          <td role="cell" className="end">
            <button
              type="button"
              className="icon-button"
              aria-expanded={open}
              aria-controls={id}
              aria-label={list.details}
              title={list.details}
              onClick={() => setOpen(!open)}
            >
              <Chevron />
            </button>
          </td>
        )}
      </tr>
      {open && (
        <tr role="row" id={id} className="detail">
          <td role="cell" colSpan={columns.length + 1}>
            {detail?.(row)}
          </td>
        </tr>
      )}
    </>
  );
}
