/** The form of a time that a person or a program gives: ISO 8601 with a zone. */
export const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** @returns undefined for a text of another form, and for one that has the form and is no time (the 31st of February) */
export function timeOfText(text: string): Date | undefined {
  const time = timePattern.test(text) ? new Date(text) : undefined;
  if (time === undefined || Number.isNaN(time.getTime())) return undefined;
  // `Date` reads the 31st of February as a day of March.
  const day = text.slice(0, 10);
  return new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10) === day ? time : undefined;
}

export const firstStorable = new Date('1970-01-01T00:00:00Z');
export const lastStorable = new Date('9999-12-31T00:00:00Z');

/** The nearest time that a column of the database can hold, also for a number beyond every Date. */
export function storable(time: Date): Date {
  const milliseconds = time.getTime();
  if (Number.isNaN(milliseconds) || milliseconds > lastStorable.getTime()) return lastStorable;
  return milliseconds < firstStorable.getTime() ? firstStorable : time;
}
