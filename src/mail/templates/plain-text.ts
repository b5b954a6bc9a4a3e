/** The width that mail programs show without a line break of their own (RFC 5322 §2.1.1 allows 78 characters). */
const lineWidth = 76;

const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303F\uFF00-\uFF60]/u;
/** A character that must not begin a line. */
const closing = /^[，。；：！？、）》」』”]/u;

/** The columns of a text in a fixed font: a Han character takes two. */
const widthOf = (text: string): number => [...text].reduce((sum, char) => sum + (wide.test(char) ? 2 : 1), 0);

/**
 * Where a line may end: at a space, and around each Han character. A long word, for example an address, stays whole. So does a
 * time with what it belongs to: `valid for 5 minutes (until 2026-03-02 10:00 UTC)`.
 */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (const piece of text.match(/\s+|(?:\S+ ){0,4}\([^()]{1,40}\)\S*|\S+?(?=\s|$)/gu) ?? []) {
    for (const part of piece.split(/(?<=\p{Script=Han}|[，。；：！？、）])|(?=\p{Script=Han})/u)) {
      if (closing.test(part) && pieces.length > 0) pieces.push(pieces.pop()! + part);
      else pieces.push(part);
    }
  }
  return pieces;
}

/** Breaks a paragraph into lines of at most 76 columns. */
export function wrapped(paragraph: string): string {
  const lines: string[] = [];
  let line = '';
  for (const piece of piecesOf(paragraph)) {
    if (line !== '' && widthOf(line + piece) > lineWidth) {
      lines.push(line.trimEnd());
      line = piece.trimStart();
    } else line += piece;
  }
  return [...lines, line].join('\n').trimEnd();
}

/** One line for each fact, with the colons below each other. */
export function factLines(facts: readonly { readonly label: string; readonly value: string }[]): string {
  const widest = Math.max(...facts.map(({ label }) => widthOf(label)));
  return facts.map(({ label, value }) => `  ${' '.repeat(widest - widthOf(label))}${label}: ${value}`).join('\n');
}
