import { urlOf } from '../../../shared/url-text';

/** Nothing is asked there: it only completes a path to a URL. */
const anyOrigin = 'https://pages.invalid';

/** Browsers read a backslash as a slash, and drop tabs and line breaks. */
const isPath = (text: string): boolean =>
  text.startsWith('/') && !text.startsWith('//') && !/[\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);

/**
 * A path of the pages, as the pages judge it too: never an address of another site (docs/spec/extensions.md#k).
 * @returns undefined for anything else
 */
export function pathOf(text: string): string | undefined {
  const url = isPath(text) ? urlOf(text, anyOrigin) : undefined;
  if (url === undefined) return undefined;
  const { origin, pathname, search, hash } = url;
  // The URL parser resolves dot segments: `/..//evil.example` becomes `//evil.example`.
  return origin === anyOrigin && isPath(pathname) ? pathname + search + hash : undefined;
}
