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

const minute = 60_000;
const hour = 60 * minute;

/**
 * `3 minutes ago`, `yesterday`, `in 9 days`. Undefined for a time that is more than six days ago or more than 30 days
 * away: then the date says more. A past time that a clock shows as the next minutes counts as the present one: `now` is
 * the text for it.
 */
export function relativeTime(language: string, at: Date, present: number, now: string): string | undefined {
  const ago = present - at.getTime();
  const format = new Intl.RelativeTimeFormat(placeOf(language).toString(), { numeric: 'auto' });
  if (Math.abs(ago) < minute) return now;
  if (Math.abs(ago) < hour) return format.format(-Math.trunc(ago / minute), 'minute');
  const days = daysBetween(new Date(present), at);
  if (days === 0 || Math.abs(ago) < 6 * hour) return format.format(-Math.trunc(ago / hour), 'hour');
  return days < -6 || days > 30 ? undefined : format.format(days, 'day');
}

/** Midnights between two moments, in the time zone of the browser. */
function daysBetween(from: Date, to: Date): number {
  const dayOf = (at: Date): number => Date.UTC(at.getFullYear(), at.getMonth(), at.getDate());
  return Math.round((dayOf(to) - dayOf(from)) / (24 * hour));
}
