/** Long enough for a page with filters, short enough for a header. */
const maxLength = 2048;
const anyOrigin = 'https://portal.invalid';

/**
 * Returns a path of this origin, with its query and fragment, or undefined. Anybody can write a link to the login page.
 * Its target must therefore not lead to another site, whether this browser, a proxy, or a page that decodes the target
 * again reads it.
 */
export function safePath(text: string | null | undefined): string | undefined {
  if (text == null || text.length > maxLength || !isPath(text)) return undefined;
  const { origin, pathname, search, hash } = new URL(text, anyOrigin);
  // The URL parser resolves dot segments: `/..//evil.example` becomes `//evil.example`.
  if (origin !== anyOrigin || !staysPath(pathname)) return undefined;
  return pathname + search + hash;
}

/** The text starts with exactly one slash. Browsers read a backslash as a slash, and drop tabs and line breaks. */
function isPath(text: string): boolean {
  return text.startsWith('/') && !text.startsWith('//') && !/[\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
}

/** True when the text is still a path after any number of decodings. */
function staysPath(path: string): boolean {
  if (!isPath(path)) return false;
  let text = decodedOnce(path);
  if (text === undefined) return false;
  for (;;) {
    if (!isPath(text)) return false;
    const decoded = decodedOnce(text);
    // `/100%25` decodes to `/100%`, which cannot be decoded again.
    if (decoded === undefined) return !/%[0-9a-f]{2}/i.test(text);
    if (decoded === text) return true;
    text = decoded;
  }
}

/** Undefined where a `%` begins no percent encoding. */
export function decodedOnce(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** `pathOf('/account?x=1')` is `/account`. The router ignores case, a slash at the end, and percent encoding. */
export function pathOf(target: string): string {
  const path = decodeURIComponent(new URL(target, anyOrigin).pathname).toLowerCase();
  return path.replace(/(?<=.)\/+$/, '');
}
