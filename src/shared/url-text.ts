/**
 * The URL that a text is, undefined where it is none. `URL.canParse` is not used here: once V8 has optimised a call of it, Node
 * 20 and 22 read letters of Latin-1 (the ü of `https://bücher.example`) as broken UTF-8, and say no.
 */
export function urlOf(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
