const value = String.raw`(?:[^()\\\0]|\\[0-9A-Fa-f]{2})*`;
const simple = String.raw`[-\w]+(?:=|>=|<=|~=)${value}`;
const extensible = String.raw`(?:[-\w]+(?::dn)?(?::[-.\w]+)?|(?::dn)?:[-.\w]+):=${value}`;
const item = new RegExp(`\\((?:${simple}|${extensible})\\)`, 'y');

/**
 * Whether the text is one search filter (RFC 4515) without spaces between its parts. The LDAP library accepts no
 * others.
 */
export function isSearchFilter(text: string): boolean {
  return endOf(text, 0) === text.length;
}

/** The end of the filter that begins at this position, or undefined if none begins there. */
function endOf(text: string, at: number): number | undefined {
  item.lastIndex = at;
  if (item.test(text)) return item.lastIndex;
  const operator = text[at + 1] ?? '';
  if (text[at] !== '(' || !'&|!'.includes(operator)) return undefined;
  let end: number | undefined = at + 2;
  let count = 0;
  while (end !== undefined && text[end] === '(') {
    end = endOf(text, end);
    count++;
  }
  const complete = end !== undefined && text[end] === ')' && count > 0 && (operator !== '!' || count === 1);
  return complete ? end! + 1 : undefined;
}
