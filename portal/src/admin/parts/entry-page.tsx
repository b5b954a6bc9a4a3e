import { type ReactNode, useState } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { go } from '../place';
import { say, type Toast } from '../toasts';
import { useLoaded } from '../use-loaded';
import { PageHead } from './page-head';
import { EmptyState, ErrorState, LoadingState } from './states';

/** What the cards of the page tell it. */
export interface EntryFrame {
  /** Says what was changed, and loads the entry again. Undefined: another part of the page says it. */
  readonly changed: (text: string | undefined, undo?: Toast['undo']) => void;
  readonly deleted: (text: string) => void;
}

interface EntryPageProps<T> {
  readonly id: string;
  readonly load: (signal: AbortSignal) => Promise<T>;
  /** The list that the entry is of. */
  readonly up: { readonly href: string; readonly text: string };
  readonly texts: Readonly<Record<'one' | 'missing' | 'missingHint' | 'deleted' | 'back', string>>;
  readonly head: (value: T) => { readonly title: string; readonly badges: ReactNode; readonly intro: string };
  readonly children: (value: T, frame: EntryFrame) => ReactNode;
}

/** The page of one entry of a list: what it is, what was just done to it, and that it is gone. */
export function EntryPage<T>({ id, load, up, texts, head, children }: EntryPageProps<T>): ReactNode {
  const { value, error, reload } = useLoaded(load, id);
  const [gone, setGone] = useState<string>();
  const changed: EntryFrame['changed'] = (text, undo) => {
    if (text !== undefined) say(text, undo && (() => undo().finally(reload)));
    reload();
  };
  const missing = error instanceof ServiceError && error.code === 'USER_404001';
  if (gone !== undefined || missing)
    return (
      <EmptyState title={gone === undefined ? texts.missing : texts.deleted} text={gone ?? texts.missingHint} heading>
        <button type="button" className="primary" onClick={() => go(up.href)}>
          {texts.back}
        </button>
      </EmptyState>
    );
  if (value === undefined)
    return (
      <>
        <PageHead title={texts.one} up={up} />
        {error === undefined ? <LoadingState lines={8} /> : <ErrorState error={error} retry={reload} />}
      </>
    );
  return (
    <>
      <PageHead {...head(value)} up={up} />
      <ErrorState error={error} retry={reload} />
      <div className="columns">{children(value, { changed, deleted: setGone })}</div>
    </>
  );
}
