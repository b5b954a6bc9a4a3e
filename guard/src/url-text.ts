/**
 * The URL that a text is, undefined where it is none. Not `URL.canParse`: once V8 has optimised a call of it, Node 20 and 22 read
 * letters of Latin-1 as broken UTF-8, and say no.
 */
export function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
