import { Fragment, type ReactNode } from 'react';
import type { AdminAuditLog } from '@portal-auth/sdk/admin';
import { useTexts } from '../i18n/texts';
import { userHref } from '../place';
import { piecesOf, sentenceOf, shownValue } from './sentences';

/**
 * A row of the audit log as a sentence. Each value stands in an element of its own, so that the text of a name cannot pass
 * for a part of the sentence, whatever its direction.
 */
export function Sentence({ row }: { readonly row: AdminAuditLog }): ReactNode {
  const { said } = useTexts();
  const sentence = sentenceOf(said, row);
  if (sentence === undefined) return <code>{row.event}</code>;
  return (
    <span className="sentence">
      {piecesOf(sentence).map((piece, index) => (
        <Fragment key={index}>{index % 2 === 0 ? piece : <Value row={row} name={piece} />}</Fragment>
      ))}
    </span>
  );
}

function Value({ row, name }: { readonly row: AdminAuditLog; readonly name: string }): ReactNode {
  const { audit } = useTexts();
  const { user_id: user, user_name, actor_id: actor, actor_name, ip, detail } = row;
  if (name === 'user') return user === null ? audit.somebody : <Person uid={user} name={user_name} />;
  if (name !== 'actor') return <bdi className="value">{shownValue(detail[name])}</bdi>;
  if (actor === null) return audit.theService;
  // An operator of the command line has no address.
  return ip === null ? <bdi className="value">{shownValue(actor)}</bdi> : <Person uid={actor} name={actor_name} />;
}

/** The start of an id is enough to tell two users apart. */
function Person({ uid, name }: { readonly uid: string; readonly name: string | null }): ReactNode {
  return (
    <a href={userHref(uid)} title={uid}>
      <bdi>{name === null ? (uid.length > 13 ? `${uid.slice(0, 8)}…` : uid) : shownValue(name)}</bdi>
    </a>
  );
}
