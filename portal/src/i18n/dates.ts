const day: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'short', day: 'numeric' };
const time: Intl.DateTimeFormatOptions = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' };

/** The local time with the name of its time zone, because the user may read the mail in another time zone. */
export function localTime(language: string, moment: string): string {
  return new Intl.DateTimeFormat(language, time).format(new Date(moment));
}

export function localDateTime(language: string, moment: string): string {
  return new Intl.DateTimeFormat(language, { ...day, ...time }).format(new Date(moment));
}

/** The local time without its time zone, for a page that shows many times to the user they concern. */
export function moment(language: string, at: Date): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(at);
}
