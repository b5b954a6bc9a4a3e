import type { ReactNode } from 'react';
import { hrefOf } from '../place';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';
import { Plus } from './icons';
import { List } from './list';
import { PageHead } from './page-head';
import { EmptyState } from './states';
import type { Column } from './table';

interface EntryListProps<T> {
  readonly of: ReturnType<typeof useRows<T>>;
  readonly texts: Readonly<Record<'title' | 'intro' | 'create' | 'empty' | 'emptyHint', string>>;
  readonly icon: ReactNode;
  /** The page of the form for a new entry. */
  readonly newPage: string;
  readonly columns: readonly Column<T>[];
}

/** The page of a list to which administrators add entries: below the title, or while there are none, in their place. */
export function EntryList<T extends { readonly id: string }>({
  of,
  texts,
  icon,
  newPage,
  columns,
}: EntryListProps<T>): ReactNode {
  const { writes } = useViewer();
  const create = writes && (
    <a className="primary small with-icon" href={hrefOf(newPage)}>
      <Plus />
      {texts.create}
    </a>
  );
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro}>
        {of.rows?.length !== 0 && create}
      </PageHead>
      <List
        of={of}
        caption={texts.title}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState icon={icon} title={texts.empty} text={texts.emptyHint}>
            {create}
          </EmptyState>
        }
      />
    </>
  );
}
