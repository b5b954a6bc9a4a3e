import { type Path, type Report, textOfPath } from './installation-file';

/** The form of a field: one text, one text or null, true or false, a list of texts, a reference to a secret, any value. */
export type Kind = 'text' | 'text or null' | 'flag' | 'texts' | 'secret' | 'any';
export type Shape = Readonly<Record<string, Kind>>;

/** One object of the file. */
export interface Entry<T> {
  readonly at: Path;
  readonly given: T;
}

const forms: Readonly<Record<Kind, readonly [fits: (value: unknown) => boolean, what: string]>> = {
  text: [(value) => typeof value === 'string', 'must be a text: put quotation marks around it'],
  'text or null': [
    (value) => value === null || typeof value === 'string',
    'must be a text or null: put quotation marks around it',
  ],
  flag: [(value) => typeof value === 'boolean', 'must be true or false'],
  texts: [(value) => Array.isArray(value) && value.every((one) => typeof one === 'string'), 'must be a list of texts'],
  secret: [
    (value) => value === null || typeof value === 'string',
    'must be a reference such as ${ENV:NAME} or file:PATH',
  ],
  any: [() => true, ''],
};

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names every unknown member of an object: a misspelt one would otherwise change nothing, without a word. */
export function refuseUnknown(given: object, at: Path, known: readonly string[], report: Report): void {
  for (const name of Object.keys(given).filter((one) => !known.includes(one))) {
    report([...at, name], `is not known: give ${known.join(', ')}`);
  }
}

/**
 * The objects of a list whose form is right; the others are reported.
 * @param keyOf what no two objects of the list have in common
 */
export function entriesOf<T extends object>(
  list: unknown,
  section: string,
  {
    shape,
    required,
    keyOf,
  }: { readonly shape: Shape; readonly required: readonly string[]; readonly keyOf: (given: T) => string },
  report: Report,
): Entry<T>[] {
  if (list === null) return [];
  if (!Array.isArray(list)) {
    report([section], 'must be a list');
    return [];
  }
  const seen = new Map<string, Path>();
  return list.flatMap((given: unknown, i): Entry<T>[] => {
    const at: Path = [section, i];
    if (!isObject(given)) {
      report(at, 'must have members');
      return [];
    }
    let right = true;
    const wrong: Report = (path, problem) => {
      right = false;
      report(path, problem);
    };
    refuseUnknown(given, at, Object.keys(shape), wrong);
    for (const name of required) if (given[name] === undefined) wrong([...at, name], 'is required');
    for (const [name, kind] of Object.entries(shape)) {
      const [fits, what] = forms[kind];
      if (given[name] !== undefined && !fits(given[name])) wrong([...at, name], what);
    }
    if (!right) return [];
    const key = keyOf(given as T);
    const former = seen.get(key);
    if (former !== undefined) report(at, `is the same one as ${textOfPath(former)}`);
    seen.set(key, at);
    return [{ at, given: given as T }];
  });
}
