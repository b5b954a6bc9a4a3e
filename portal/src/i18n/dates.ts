const day: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'short', day: 'numeric' };
const time: Intl.DateTimeFormatOptions = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' };

/**
 * The language of the page with the region of the browser. Dates of a page in plain English would be American for
 * everybody. The script is kept, because `zh-TW` would write a page in `zh-CN` in other characters.
 */
function placeOf(language: string): Intl.Locale {
  const { region } = new Intl.Locale(navigator.language).maximize();
  const place = new Intl.Locale(new Intl.Locale(language).maximize(), region === undefined ? {} : { region });
  // `en-GB`, because a browser takes `en-Latn-GB` for plain `en`.
  return place.minimize();
}

export const dateFormat = (language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(placeOf(language), options);

/** The local time with the name of its time zone, because the user may read the mail in another time zone. */
export function localTime(language: string, moment: string): string {
  return dateFormat(language, time).format(new Date(moment));
}

export function localDateTime(language: string, moment: string): string {
  return dateFormat(language, { ...day, ...time }).format(new Date(moment));
}

/** The local time without its time zone, for a page that shows many times to the user they concern. */
export function moment(language: string, at: Date): string {
  return dateFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(at);
}
