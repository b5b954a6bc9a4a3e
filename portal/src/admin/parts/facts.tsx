import type { ReactNode } from 'react';
import { breakable } from '../../components/breakable';
import { Copy } from '../../components/copy';
import { dateFormat } from '../../i18n/dates';
import { useSpeech } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { userHref } from '../place';

interface AtProps {
  readonly at: string | null;
  /** To the second, as a log needs it. */
  readonly exact?: boolean;
}

export function At({ at, exact = false }: AtProps): ReactNode {
  const { language } = useSpeech();
  const { list } = useTexts();
  if (at === null) return <span className="none">{list.never}</span>;
  const format = dateFormat(language, { dateStyle: 'medium', timeStyle: exact ? 'medium' : 'short' });
  return <time dateTime={at}>{format.format(new Date(at))}</time>;
}

/** `–` where there is nothing to show. */
export function Or({ text }: { readonly text: string | null | undefined }): ReactNode {
  const { list } = useTexts();
  if (text !== null && text !== undefined && text !== '') return breakable(text);
  return (
    <span className="none">
      <span aria-hidden="true">–</span>
      <span className="heard">{list.none}</span>
    </span>
  );
}

/** A value to be entered elsewhere, exactly as it is. */
export function Copied({ text, what }: { readonly text: string; readonly what: string }): ReactNode {
  const { list } = useTexts();
  return (
    <span className="with-copy">
      <code>{breakable(text)}</code>
      <Copy text={text} label={list.copy} what={what} />
    </span>
  );
}

/** The values of a list, one under the other. */
export function Lines({ values, none }: { readonly values: readonly string[]; readonly none?: ReactNode }): ReactNode {
  if (values.length === 0) return none ?? <Or text={null} />;
  return (
    <ul className="lines">
      {values.map((one) => (
        <li key={one}>{breakable(one)}</li>
      ))}
    </ul>
  );
}

/** An address of version 6 is too long for one line. */
export function Ip({ ip }: { readonly ip: string | null }): ReactNode {
  return (
    <span className={ip !== null && ip.length < 16 ? 'ip' : undefined}>
      <Or text={ip} />
    </span>
  );
}

/** A link to the page of a user. The start of an id is enough to tell two users apart. */
export function UserLink({ uid, name }: { readonly uid: string | null; readonly name?: string }): ReactNode {
  if (uid === null) return <Or text={name} />;
  return (
    <a href={userHref(uid)} title={uid}>
      {name ?? <code>{uid.length > 13 ? `${uid.slice(0, 8)}…` : uid}</code>}
    </a>
  );
}

export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}): ReactNode {
  return (
    <dl className="fact-list">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{breakable(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
