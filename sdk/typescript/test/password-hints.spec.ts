import { passwordHints } from '../dist/index.js';

const policy = {
  min_length: 12,
  require_upper: true,
  require_lower: true,
  require_digit: true,
  require_special: false,
  forbid_common: true,
  forbid_own_data: true,
  breach_check: false,
};
const broken = (password: string, more = {}) =>
  passwordHints({ ...policy, ...more }, password)
    .filter(({ met }) => !met)
    .map(({ rule }) => rule);

describe('the hints of the password policy', () => {
  it.each([
    ['Correct-Horse-7', []],
    ['Correct-Hor7', []],
    ['Correct-Ho7', ['length']],
    ['correct-horse-7', ['upper']],
    ['CORRECT-HORSE-7', ['lower']],
    ['Correct-Horse-x', ['digit']],
    ['', ['length', 'upper', 'lower', 'digit']],
    [`Aa1${'é'.repeat(35)}`, ['bytes']],
    ['Correct-Horse-7\0', ['bytes']],
  ])('%j breaks %j', (password, rules) => expect(broken(password)).toEqual(rules));

  it('only active rules are listed', () => {
    expect(passwordHints({ ...policy, require_upper: false }, 'x').map(({ rule }) => rule)).toEqual([
      'length',
      'lower',
      'digit',
    ]);
    expect(broken('CorrectHorse77', { require_special: true })).toEqual(['special']);
  });
});
