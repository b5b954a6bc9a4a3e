import type { KeyRing } from '../../platform/crypto/key-ring';
import { DomainError } from '../../shared/errors/domain-error';
import { requestInvalid } from '../../shared/errors/error-catalogue';

/** The place of a row in the order of its list. It is only a position: the WHERE of the list still has the scope. */
export type Place = readonly (string | number)[];

/** The types of the members of a place, for example `['time', 'number']`. A `time` is in milliseconds, from 1970 on. */
export type PlaceShape = readonly ('string' | 'number' | 'time')[];

/** The last time that the databases can store. */
const lastTime = Date.UTC(9999, 11, 31);

/** The text of a place. `read` returns undefined for a text that `write` did not make. */
export interface CursorForm {
  write(json: string): string;
  read(cursor: string): string | undefined;
}

/** For places of rows that the caller may see. */
export const plainCursors: CursorForm = {
  write: (json) => Buffer.from(json).toString('base64url'),
  read: (cursor) => Buffer.from(cursor, 'base64url').toString('utf8'),
};

/** For a list whose next place can be that of a row that the caller may not see. All texts have the same length. */
export const sealedCursors = (keys: KeyRing): CursorForm => ({
  write: (json) => keys.seal('cursor', json.padEnd(40)),
  read: (cursor) => keys.openFromClient('cursor', cursor),
});

export const cursorOf = (place: Place, form: CursorForm): string => form.write(JSON.stringify(place));

/**
 * @param parameter the name of the cursor in the query
 * @throws DomainError COMMON_400001 for a text that is no cursor of such a list
 */
export function placeOf(cursor: string, shape: PlaceShape, form: CursorForm, parameter = 'after'): Place {
  const place = parsed(form.read(cursor));
  const fits = Array.isArray(place) && place.length === shape.length && place.every((part, i) => isA(shape[i], part));
  if (fits) return place as Place;
  throw new DomainError(requestInvalid, {
    fields: { [parameter]: [`${parameter} must be the \`next\` of an earlier page`] },
  });
}

function parsed(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? '');
  } catch {
    return undefined;
  }
}

function isA(type: PlaceShape[number] | undefined, part: unknown): boolean {
  if (type === 'string') return typeof part === 'string';
  if (typeof part !== 'number' || !Number.isSafeInteger(part)) return false;
  return type === 'number' || (part >= 0 && part <= lastTime);
}
