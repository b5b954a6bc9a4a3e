import { DomainError } from '../../shared/errors/domain-error';
import { requestInvalid } from '../../shared/errors/error-catalogue';

/** The place of a row in the order of its list. It is only a position: the WHERE of the list still has the scope. */
export type Place = readonly (string | number)[];

/** The types of the members of a place, for example `['time', 'number']`. A `time` is a number of milliseconds. */
export type PlaceShape = readonly ('string' | 'number' | 'time')[];

/** The last time that the databases can store. */
const lastTime = Date.UTC(9999, 11, 31);

export const cursorOf = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url');

/** @throws DomainError COMMON_400001 for a text that is no cursor of such a list */
export function placeOf(cursor: string, shape: PlaceShape): Place {
  const place = parsed(cursor);
  const fits = Array.isArray(place) && place.length === shape.length && place.every((part, i) => isA(shape[i], part));
  if (fits) return place as Place;
  throw new DomainError(requestInvalid, { fields: { after: ['after must be the `next` of an earlier page'] } });
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function isA(type: PlaceShape[number] | undefined, part: unknown): boolean {
  if (type === 'string') return typeof part === 'string';
  if (typeof part !== 'number' || !Number.isSafeInteger(part)) return false;
  return type === 'number' || Math.abs(part) <= lastTime;
}
