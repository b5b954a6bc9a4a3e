type Names = Pick<typeof import('bowser'), 'parse' | 'BROWSER_MAP' | 'OS_MAP'>;

/** The browsers that have no name share this one. */
export const unknownBrowser = 'unknown';

/** Loads the package on demand: only services that name browsers need it. */
export async function loadBrowserNames(): Promise<(userAgent: string) => string> {
  const { default: names } = await import('bowser');
  return (userAgent) => browserName(names, userAgent);
}

/**
 * Returns a browser and its operating system without versions, for example `Firefox, Windows`. Only names that the
 * package knows are returned: no text of a client reaches a mail.
 */
function browserName({ parse, BROWSER_MAP, OS_MAP }: Names, userAgent: string): string {
  if (userAgent === '') return unknownBrowser;
  const { browser, os } = parse(userAgent);
  const isKnown = (names: Readonly<Record<string, string>>, name = '') => Object.values(names).includes(name);
  if (browser.name === undefined || !isKnown(BROWSER_MAP, browser.name)) return unknownBrowser;
  return isKnown(OS_MAP, os.name) ? `${browser.name}, ${os.name}` : browser.name;
}
