import {
  brokenByCharacters,
  defaultPasswordPolicy,
  parsePasswordPolicy,
  type PasswordPolicy,
  PolicyProblem,
} from './password-policy';

const meetsPolicy = (password: string, policy: PasswordPolicy) => brokenByCharacters(password, policy).length === 0;

describe('the default policy: 12 characters with an upper-case letter, a lower-case letter and a digit (T113)', () => {
  it.each([
    ['exactly 12', 'Abcdefghijk1', true],
    ['11 characters', 'Abcdefghij1', false],
    ['no upper-case letter', 'abcdefghijk1', false],
    ['no lower-case letter', 'ABCDEFGHIJK1', false],
    ['no digit', 'Abcdefghijkl', false],
    ['nothing', '', false],
    ['no special character is asked for', 'Abcdefghijk123', true],
    ['letters and digits of another script', 'Длинныйпарол٣', true],
    ['a script without case', '这是一个很长的密码字符串1', false],
    ['superscript digits are no digits', 'Abcdefghijk²', false],
    ['12 code points, 24 units (T118)', 'Aa1' + '🐎'.repeat(9), true],
    ['11 code points, 19 units (T118)', 'Aa1' + '🐎'.repeat(8), false],
    ['a combining mark is a code point of its own', 'Abcdefghij1\u0301', true],
  ])('%s: %p meets the policy: %p', (_name, password, expected) => {
    expect(meetsPolicy(password, defaultPasswordPolicy)).toBe(expected);
  });
});

describe('the rule that requires a special character', () => {
  const policy = {
    ...defaultPasswordPolicy,
    min_length: 1,
    require_upper: false,
    require_lower: false,
    require_digit: false,
    require_special: true,
  };

  it.each(['!', '_', '€', ' ', '\u3000', '。', '🐎', '`'])('accepts %j', (character) => {
    expect(meetsPolicy(`a${character}`, policy)).toBe(true);
  });

  it.each(['a', 'é', '7', '²', '文', '\u0301', '\t', '\u200b'])('does not accept %j', (character) => {
    expect(meetsPolicy(`a${character}`, policy)).toBe(false);
  });
});

it('names every broken rule, in the order of the policy', () => {
  const strict = { ...defaultPasswordPolicy, require_special: true };
  expect(brokenByCharacters('', strict)).toEqual([
    'min_length',
    'require_upper',
    'require_lower',
    'require_digit',
    'require_special',
  ]);
  expect(brokenByCharacters('correct-horse-7', strict)).toEqual(['require_upper']);
});

describe('parsing a policy', () => {
  it('the rules about common passwords and own data apply when their members are missing, the breach check does not', () => {
    expect(parsePasswordPolicy('{}')).toMatchObject({
      forbid_common: true,
      forbid_own_data: true,
      breach_check: false,
    });
  });

  it('other values for missing members can be given, and never replace a member that is there', () => {
    const relaxed = { ...defaultPasswordPolicy, forbid_common: false, forbid_own_data: false };
    expect(parsePasswordPolicy('{"forbid_common":true}', relaxed)).toEqual({ ...relaxed, forbid_common: true });
  });

  it('a missing member has its default value', () => {
    expect(parsePasswordPolicy('{}')).toEqual(defaultPasswordPolicy);
    expect(parsePasswordPolicy('{"min_length":16}')).toEqual({ ...defaultPasswordPolicy, min_length: 16 });
    expect(parsePasswordPolicy(' {"require_special":true} ')).toEqual({
      ...defaultPasswordPolicy,
      require_special: true,
    });
  });

  it.each([1, 72])('accepts %i as min_length', (min_length) => {
    expect(parsePasswordPolicy(JSON.stringify({ min_length })).min_length).toBe(min_length);
  });

  it.each([
    '',
    ' ',
    '{',
    'null',
    'true',
    '12',
    '"min_length"',
    '[]',
    '[{"min_length":8}]',
    '{"min_length":8,}',
    "{'min_length':8}",
    '{"min_length":"8"}',
    '{"min_length":null}',
    '{"min_length":0}',
    '{"min_length":-1}',
    '{"min_length":73}',
    '{"min_length":8.5}',
    '{"min_length":1e9}',
    '{"require_upper":"false"}',
    '{"require_upper":0}',
    '{"require_digit":null}',
    '{"forbid_common":"true"}',
    '{"forbid_own_data":1}',
    '{"breach_check":null}',
    '{"minimum_length":8}',
    '{"MIN_LENGTH":8}',
    '{"__proto__":{"min_length":1}}',
    '{"toString":true}',
  ])('refuses %p with an error message of one line', (text) => {
    expect(() => parsePasswordPolicy(text)).toThrow(PolicyProblem);
    expect(() => parsePasswordPolicy(text)).toThrow(/^[^\n]{1,120}$/);
  });
});
