import { parse } from 'scim2-parse-filter';
import { type Filter, parseFilter, parsePath } from './filter';
import { ScimError } from './scim-error';

/** The same filter in the words of `scim2-parse-filter`, which is the oracle. */
function asPackage(filter: Filter): unknown {
  if ('all' in filter) return { op: 'and', filters: filter.all.map(asPackage) };
  if ('any' in filter) return { op: 'or', filters: filter.any.map(asPackage) };
  if ('not' in filter) return { op: 'not', filter: asPackage(filter.not) };
  if ('within' in filter) return { op: '[]', attrPath: filter.attribute, valFilter: asPackage(filter.within) };
  if ('present' in filter) return { op: 'pr', attrPath: filter.attribute };
  return { op: filter.comparison, attrPath: filter.attribute, compValue: filter.value };
}

const refusal = (text: string, read: (text: string) => unknown = parseFilter): unknown => {
  try {
    return read(text);
  } catch (error) {
    expect(error).toBeInstanceOf(ScimError);
    return (error as ScimError).scimType;
  }
};

describe('a filter of SCIM', () => {
  it.each([
    'username eq "bjensen"',
    'name.familyname co "O\'Malley"',
    'urn:ietf:params:scim:schemas:core:2.0:user:username sw "J"',
    'title pr',
    'meta.lastmodified gt "2011-05-13T04:42:34Z"',
    'title pr and usertype eq "Employee"',
    'usertype eq "Employee" and (emails co "example.com" or emails.value co "example.org")',
    'usertype ne "Employee" and not (emails co "example.com" or emails.value co "example.org")',
    'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]',
    'emails[type eq "work" and (value co "a" or not (primary eq true))]',
    'a eq "x" or b eq "y" and c eq "z" or d le 7',
    'a eq "x\\"y" and c eq null and b ge -1.5e3',
    '((((a pr))))',
  ])('is read as the package reads it: %s', (text) => {
    expect(asPackage(parseFilter(text))).toEqual(JSON.parse(JSON.stringify(parse(text))));
  });

  it('has operators and attributes in any case', () => {
    expect(parseFilter('USERNAME EQ "A" AND Active eq True')).toEqual(
      parseFilter('userName eq "A" and active eq true'),
    );
  });

  it('has texts of JSON, with every escape, where the package keeps the backslash', () => {
    const value = (text: string) => (parseFilter(`a eq ${text}`) as { value: unknown }).value;
    expect(['"a\\\\b"', '"\\u00e9"', '"\\n"', '"\\""'].map(value)).toEqual(['a\\b', 'é', '\n', '"']);
  });

  it('binds a comparison after brackets to the same value', () => {
    expect(parseFilter('emails[type eq "work"].value eq "a@b.c"')).toEqual({
      attribute: 'emails',
      within: {
        all: [
          { attribute: 'type', comparison: 'eq', value: 'work' },
          { attribute: 'value', comparison: 'eq', value: 'a@b.c' },
        ],
      },
    });
  });

  it.each([
    ['nothing', ''],
    ['spaces', '   '],
    ['no operator', 'a'],
    ['an unknown operator', 'a like "x"'],
    ['no value', 'a eq'],
    ['single quotes', "a eq 'x'"],
    ['an open text', 'a eq "x'],
    ['an open bracket', '(a pr'],
    ['a closing bracket too many', 'a pr)'],
    ['the wrong bracket', 'a[b pr)'],
    ['text after it', 'a pr b'],
    ['a statement', 'a eq "x"; DROP TABLE users'],
    ['a text that is none of JSON', 'a eq "\\x"'],
    ['a control character in a text', 'a eq "\u0001"'],
    ['an object', 'a eq {}'],
    ['more levels than 10', `${'('.repeat(11)}a pr${')'.repeat(11)}`],
    ['200,000 brackets', '('.repeat(200_000)],
    ['51 terms', Array(51).fill('a pr').join(' or ')],
    ['10,000 terms', Array(10_000).fill('a pr').join(' or ')],
    ['a thousand negations', `${'not '.repeat(1000)}a pr`],
    ['one megabyte', `a eq "${'x'.repeat(1_000_000)}"`],
    ['one megabyte of backslashes', `a eq "${'\\'.repeat(1_000_000)}`],
  ])('is refused with invalidFilter: %s (T573)', (_what, text) => {
    expect(refusal(text)).toBe('invalidFilter');
  });

  it('has 10 levels and 50 terms', () => {
    const text = `${'('.repeat(10)}a pr${')'.repeat(10)}`;
    expect(parseFilter(text)).toEqual({ attribute: 'a', present: true });
    expect(parseFilter(Array(50).fill('a pr').join(' or '))).toHaveProperty('any.length', 50);
  });
});

describe('a path of an operation', () => {
  it.each([
    ['active', { attribute: 'active' }],
    ['name.familyName', { attribute: 'name.familyname' }],
    [
      'emails[type eq "work"].value',
      { attribute: 'emails', within: { attribute: 'type', comparison: 'eq', value: 'work' }, sub: 'value' },
    ],
    ['members[value eq "1"]', { attribute: 'members', within: { attribute: 'value', comparison: 'eq', value: '1' } }],
    [
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
      { attribute: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:user:department' },
    ],
  ])('%s', (text, path) => expect(parsePath(text)).toEqual(path));

  it.each(['', 'a b', 'a eq "x"', '[a pr]', 'a[b pr', 'a[b pr].', '1', 'a..b'])('%j is none', (text) => {
    expect(refusal(text, parsePath)).toBe('invalidFilter');
  });
});
