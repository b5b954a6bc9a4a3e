import { BROWSER_MAP, OS_MAP, parse } from 'bowser';
import type { Texts } from '../i18n/en';
import { fill } from '../i18n/texts';

const isKnown = (names: Readonly<Record<string, string>>, name: string | undefined): name is string =>
  name !== undefined && Object.values(names).includes(name);

/**
 * Returns the browser and the system of a `User-Agent` without versions, for example `Firefox on Windows`. Only names
 * that the package knows are returned, because whoever logs in can write any text into the header.
 */
export function deviceName(userAgent: string | null, t: Texts): string {
  // The package refuses an empty text.
  if (userAgent === null || userAgent === '') return t.account.unknownDevice;
  const { browser, os } = parse(userAgent);
  const known = isKnown(BROWSER_MAP, browser.name) ? browser.name : undefined;
  if (!isKnown(OS_MAP, os.name)) return known ?? t.account.unknownDevice;
  return known === undefined ? os.name : fill(t.account.device, { browser: known, system: os.name });
}

/** True for a phone or a tablet. */
export function isHandheld(userAgent: string | null): boolean {
  const type = userAgent ? parse(userAgent).platform.type : undefined;
  return type === 'mobile' || type === 'tablet';
}
