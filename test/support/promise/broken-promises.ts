/** What a version promises: names with their properties. An array is a set of words. */
export type Recorded = string | number | boolean | null | readonly string[] | { readonly [name: string]: Recorded };

/**
 * Compares the record of a version with the present. Additions are fine. These break somebody who relies on the record:
 * a name that is gone, a value that has changed, a word that is gone from a set, and a word that is new in a set named
 * `needs`, because that set has what a caller must give.
 * @returns one line for each broken promise
 */
export function brokenPromises(place: string, promised: Recorded, present: Recorded | undefined): string[] {
  if (present === undefined) return [`${place} is gone`];
  if (isSet(promised)) return brokenSet(place, promised, isSet(present) ? present : []);
  if (isLiteralUnion(promised) && isLiteralUnion(present)) {
    return brokenSet(place, promised.split(' | '), present.split(' | '));
  }
  if (typeof promised !== 'object' || promised === null || typeof present !== 'object' || present === null) {
    return promised === present ? [] : [`${place} was ${told(promised)} and is ${told(present)}`];
  }
  const now = present as { readonly [name: string]: Recorded };
  const broken = Object.entries(promised).flatMap(([name, value]) =>
    brokenPromises(`${place} ${name}`, value, now[name]),
  );
  // A record without `needs` is one of something that needed nothing.
  return 'needs' in now && !('needs' in promised) ? [...broken, ...brokenSet(`${place} needs`, [], now.needs)] : broken;
}

function brokenSet(place: string, promised: readonly string[], present: Recorded | undefined): string[] {
  const now = present as readonly string[];
  if (place.endsWith(' needs')) {
    const more = now.filter((word) => !promised.includes(word));
    return more.map((word) => `${place.slice(0, -' needs'.length)} now needs ${word}`);
  }
  return promised.filter((word) => !now.includes(word)).map((word) => `${place} no longer has ${word}`);
}

/** A type such as that of all error codes, which can get more of them (docs/promise.md). */
const isLiteralUnion = (value: Recorded): value is string =>
  typeof value === 'string' && /^"\w+"(?: \| (?:"\w+"|undefined))+$/.test(value);

const isSet = (value: Recorded): value is readonly string[] => Array.isArray(value);

function told(value: Recorded): string {
  return typeof value === 'object' && value !== null ? 'something else' : JSON.stringify(value);
}
