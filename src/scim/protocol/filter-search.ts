import type { Search } from '../../platform/database/search';
import type { Filter, FilterValue } from './filter';
import { attributeKey } from './schemas';
import { invalidFilter } from './scim-error';

interface Searched<Field> {
  readonly field: Field;
  /** Default: a text. */
  readonly as?: 'time' | 'flag';
  /** The only operator is `eq`. */
  readonly equality?: true;
}

/** The attributes that a filter may name, by their keys in lower case. */
export type SearchedAttributes<Field extends string> = ReadonlyMap<string, Searched<Field>>;

/** The longest text of a column. A longer one equals nothing, and would only cost time. */
const longestText = 255;

/** @throws ScimError `invalidFilter` for an attribute without an index: the search would read every row */
export function searchOf<Field extends string>(filter: Filter, attributes: SearchedAttributes<Field>): Search<Field> {
  if ('all' in filter) return { all: filter.all.map((one) => searchOf(one, attributes)) };
  if ('any' in filter) return { any: filter.any.map((one) => searchOf(one, attributes)) };
  if ('not' in filter) return { not: searchOf(filter.not, attributes) };
  const attribute = attributeKey(filter.attribute);
  if ('within' in filter) return searchOf(inBrackets(attribute, filter.within), attributes);
  const searched = attributes.get(attribute);
  if (searched === undefined) {
    throw invalidFilter(`a filter may name ${[...attributes.keys()].join(', ')}`);
  }
  const { field, equality, as } = searched;
  if ('present' in filter || filter.value === null) {
    const present: Search<Field> = { field, present: true };
    if (equality) throw invalidFilter(`the only operator of ${attribute} is eq`);
    if ('present' in filter || filter.comparison === 'ne') return present;
    return { not: present };
  }
  const { comparison, value } = filter;
  if (equality && comparison !== 'eq') throw invalidFilter(`the only operator of ${attribute} is eq`);
  if (as === 'time' && ['co', 'sw', 'ew'].includes(comparison)) throw invalidFilter(`${attribute} is a time`);
  return { field, comparison, value: valueOf(attribute, as, value) };
}

/**
 * The one address of a user is of type work and primary, so conditions on these are known. Brackets hold for one value, and there
 * is at most one.
 */
function inBrackets(attribute: string, filter: Filter): Filter {
  if ('all' in filter) return { all: filter.all.map((one) => inBrackets(attribute, one)) };
  if ('any' in filter) return { any: filter.any.map((one) => inBrackets(attribute, one)) };
  if ('not' in filter) return { all: [existing(attribute), { not: inBrackets(attribute, filter.not) }] };
  if ('within' in filter) throw invalidFilter('brackets do not contain brackets');
  const known = attribute === 'emails' ? knownParts.get(filter.attribute) : undefined;
  if (known === undefined) return { ...filter, attribute: `${attribute}.${filter.attribute}` };
  if ('present' in filter) return existing(attribute);
  if (filter.comparison !== 'eq' && filter.comparison !== 'ne') throw invalidFilter('the operator is eq or ne');
  const equal = String(filter.value).toLowerCase() === known;
  return equal === (filter.comparison === 'eq') ? existing(attribute) : nothing(attribute);
}

const knownParts = new Map([
  ['type', 'work'],
  ['primary', 'true'],
]);
const existing = (attribute: string): Filter => ({ attribute: `${attribute}.value`, present: true });
const nothing = (attribute: string): Filter => ({ all: [existing(attribute), { not: existing(attribute) }] });

function valueOf(attribute: string, as: 'time' | 'flag' | undefined, value: Exclude<FilterValue, null>) {
  if (as === 'flag') {
    const word = String(value).toLowerCase();
    if (word === 'true' || word === 'false') return word === 'true' ? 1 : 0;
    throw invalidFilter(`${attribute} is true or false`);
  }
  if (typeof value !== 'string') throw invalidFilter(`the value of ${attribute} is a text`);
  if (value.length > longestText)
    throw invalidFilter(`the value of ${attribute} has at most ${longestText} characters`);
  if (as === undefined) return value;
  const time = new Date(value);
  if (!/^\d{4}-\d\d-\d\dT/.test(value) || Number.isNaN(time.getTime())) throw invalidFilter(`${attribute} is a time`);
  return time;
}
