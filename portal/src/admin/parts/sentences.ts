/** The sentences of one language (portal/src/admin/i18n/said). */
export interface Said {
  readonly by: Readonly<Record<string, string>>;
  readonly own: Readonly<Record<string, string>>;
}

/** What a sentence needs of an item of GET /admin/audit-logs. */
interface Row {
  readonly event: string;
  readonly actor_id: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The cases of an event that have sentences of their own. */
function caseOf({ event, detail }: Row): string {
  if (event === 'USER_ADMIN_CHANGED') return detail.is_admin === true ? '.given' : '.taken';
  if (event === 'BRAND_CHANGED') return detail.tenant === null ? '.default' : '';
  if (event !== 'USER_STATUS_CHANGED') return '';
  return detail.to === 1 ? '.enabled' : detail.to === -1 ? '.disabled' : '';
}

/** The sentence for a row, with the places of its values in braces. Undefined for an event of a newer service. */
export function sentenceOf({ by, own }: Said, row: Row): string | undefined {
  const key = row.event + caseOf(row);
  return row.actor_id === null ? (own[key] ?? by[key]) : (by[key] ?? own[key]);
}

/** `{actor} left {user}` is `['', 'actor', ' left ', 'user', '']`: text and names of values take turns. */
export const piecesOf = (sentence: string): readonly string[] => sentence.split(/\{(\w+)\}/);

/** The longest value that a sentence shows. The details of the row have all of it. */
const mostCharacters = 80;

/** A value of a row in one line. Control characters could make it look like another sentence. */
export function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? value : value === null || value === undefined ? '–' : JSON.stringify(value);
  // Bidirectional controls change the direction of what follows. Other format characters belong to names and emoji.
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ').trim();
  return [...line].length > mostCharacters ? `${[...line].slice(0, mostCharacters).join('')}…` : line;
}
