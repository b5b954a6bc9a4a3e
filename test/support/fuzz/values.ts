import type { SeededNumbers } from '../seeded-numbers';
import type { Schema } from './operations';

/** The number of values of one name that are kept. */
const kept = 24;

/** What answers have contained, by the names of the fields, so that later requests can name it. */
export class Seen {
  private readonly values = new Map<string, string[]>();

  add(name: string, value: unknown): void {
    if (typeof value !== 'string' || value === '' || value.length > 4000) return;
    const list = this.values.get(name) ?? [];
    this.values.set(name, list);
    if (list.includes(value)) return;
    list.push(value);
    if (list.length > kept) list.shift();
  }

  pick(name: string, numbers: SeededNumbers): string | undefined {
    const list = this.values.get(name);
    return list === undefined || list.length === 0 ? undefined : numbers.pick(list);
  }
}

/** Values that break a rule of most fields. */
const strange: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    2 ** 53,
    '',
    ' ',
    '0',
    'true',
    'null',
    '[]',
    [],
    {},
    [null],
    [[]],
    ['a', 'b'],
  ],
  ...[{ a: 1 }, { toString: 'x' }, { length: 3 }, { $ne: '' }, ['a'.repeat(200)]],
  ...['a'.repeat(65), 'a'.repeat(256), 'a'.repeat(5000), '€'.repeat(300), '9'.repeat(300), '-'.repeat(36)],
  ...['\u0000', 'a\u0000b', '\ud800', '\udfff\ud800', '😀', 'İ', 'ß', 'ﬀ', '\u202e', '\u2028', 'a\r\nb: c', '\u007f'],
  ...["' OR 1=1 --", '%', '_%', '%00', '%ff', '..', '../../etc/passwd', '<script>', '${7*7}', '{{7*7}}', '*)(uid=*'],
  ...['2026-02-30', '2026-13-99T99:99:99Z', '-000001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z', '0000'],
  ...['a@', '@', 'a@b', '"a b"@example.com', 'a@[127.0.0.1]', `${'a'.repeat(300)}@example.com`, 'A@EXAMPLE.COM '],
  ...['::ffff:127.0.0.1', '127.1', '256.0.0.1', 'fe80::1%eth0', 'NaN', 'Infinity', '1e3', '0x10', ' 5', '5 ', '+5'],
  ...['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.'],
];

export const strangeValue = (numbers: SeededNumbers): unknown => numbers.pick(strange);

/** Without halves of surrogate pairs, which neither a URL nor UTF-8 can contain. */
export const wellFormed = (text: string): string => Buffer.from(text).toString();

/** A strange value as text, for a path, a query or a header. */
export function strangeText(numbers: SeededNumbers): string {
  const value = strangeValue(numbers);
  return wellFormed(typeof value === 'string' ? value : JSON.stringify(value));
}

/** A value that the schema allows, without regard to the meaning of the field. */
export function plainValue(schema: Schema, numbers: SeededNumbers): unknown {
  if (schema.enum !== undefined) return numbers.pick(schema.enum);
  const [type] = [schema.type ?? 'string'].flat();
  switch (type) {
    case 'boolean':
      return numbers.chance(50);
    case 'integer':
      return (schema.minimum ?? 0) + numbers.next((schema.maximum ?? 100) - (schema.minimum ?? 0) + 1);
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return schema.format === 'date-time' ? aTime(numbers) : (schema.example ?? `text ${numbers.next(1000)}`);
  }
}

function aTime(numbers: SeededNumbers): string {
  return new Date(Date.UTC(2026, numbers.next(24), 1 + numbers.next(28), numbers.next(24))).toISOString();
}
