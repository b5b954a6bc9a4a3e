import { type ReactNode, useState } from 'react';
import { Message } from '../../components/message';
import { clashesOf } from '../clash';
import { useTexts } from '../i18n/texts';
import { RowButton } from './row-button';

export interface ClashOptions<T> {
  /** The values that the form began with. */
  readonly before: T;
  readonly now: T;
  /** What the service has now, in the form of the values. */
  readonly load: () => Promise<T>;
  readonly onTake: (saved: Partial<T>) => void;
  /** The labels of the fields. */
  readonly labels: Readonly<Partial<Record<keyof T & string, string>>>;
}

/**
 * Finds out whether somebody else has changed the same fields, so that nobody overwrites what he has not seen. Nothing that
 * was typed is lost: both values are shown, and the administrator takes the saved one, or saves once more.
 */
export function useClash<T extends object>({ before, now, load, onTake, labels }: ClashOptions<T>) {
  const [seen, setSeen] = useState<T>();
  const clashes = seen === undefined ? [] : clashesOf(before, now, seen);
  return {
    /** Whether the values may be sent. Otherwise `message` shows why not. */
    passes: async (): Promise<boolean> => {
      const saved = await load();
      const known = seen ?? before;
      const free = clashesOf(known, now, saved).every((field) => now[field] === before[field]);
      if (!free) setSeen(saved);
      return free;
    },
    message: seen !== undefined && clashes.length > 0 && (
      <Clashes<T>
        of={clashes.map((field) => ({ field, label: labels[field] ?? field, theirs: seen[field], mine: now[field] }))}
        onTake={(field) => onTake({ [field]: seen[field] } as Partial<T>)}
      />
    ),
  };
}

interface ClashesProps<T> {
  readonly of: readonly {
    readonly field: keyof T & string;
    readonly label: string;
    readonly theirs: unknown;
    readonly mine: unknown;
  }[];
  readonly onTake: (field: keyof T & string) => void;
}

function Clashes<T>({ of, onTake }: ClashesProps<T>): ReactNode {
  const { drafts: texts, user } = useTexts();
  const textOf = (value: unknown): string => {
    if (typeof value === 'boolean') return value ? user.yes : user.no;
    const text =
      typeof value === 'object' && value !== null
        ? Object.values(value).join(', ')
        : String((value as string | null) ?? '');
    return text === '' ? '–' : text;
  };
  return (
    <Message kind="warning" focused>
      <p>{texts.clash}</p>
      <ul className="clashes">
        {of.map(({ field, label, theirs, mine }) => (
          <li key={field}>
            <b>{label}</b>
            <dl>
              <dt>{texts.saved}</dt>
              <dd>{textOf(theirs)}</dd>
              <dt>{texts.yours}</dt>
              <dd>{textOf(mine)}</dd>
            </dl>
            <RowButton text={texts.take} of={label} onClick={() => onTake(field)} />
          </li>
        ))}
      </ul>
    </Message>
  );
}
