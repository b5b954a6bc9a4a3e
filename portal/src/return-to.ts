/** Long enough for a page with filters, short enough for a header. */
const maxLength = 2048;
const anyOrigin = 'https://portal.invalid';

/**
 * Returns a path of this origin, with its query and fragment, or undefined. A link to the login page is written by anybody,
 * so what it names must not lead to another site, whoever reads it: this browser, a proxy, or a page that decodes it again.
 */
export function safePath(text: string | null | undefined): string | undefined {
  if (text == null || text.length > maxLength || !isPath(text)) return undefined;
  const { origin, pathname, search, hash } = new URL(text, anyOrigin);
  // The parser resolves dots: `/..//evil.example` has become `//evil.example`.
  if (origin !== anyOrigin || !staysPath(pathname)) return undefined;
  return pathname + search + hash;
}

/** One slash first. Browsers read a backslash as a slash, and drop tabs and line breaks. */
function isPath(text: string): boolean {
  return text.startsWith('/') && !text.startsWith('//') && !/[\\\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
}

/** The path stays a path however often it is decoded. */
function staysPath(path: string): boolean {
  if (!isPath(path)) return false;
  let text = decodedOnce(path);
  if (text === undefined) return false;
  for (;;) {
    if (!isPath(text)) return false;
    const decoded = decodedOnce(text);
    // `/100%25` is decoded to `/100%`, which is no encoding any more.
    if (decoded === undefined) return !/%[0-9a-f]{2}/i.test(text);
    if (decoded === text) return true;
    text = decoded;
  }
}

function decodedOnce(text: string): string | undefined {
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
