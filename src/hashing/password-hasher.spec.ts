import { isHashable, saltOf } from './password-hasher';

describe('isHashable', () => {
  it.each([
    ['72 bytes of ASCII', 'a'.repeat(72)],
    ['72 bytes in 18 emoji', '😀'.repeat(18)],
    ['nothing at all (a matter of the policy)', ''],
    ['letters beyond ASCII', 'pässwörd 密码'],
  ])('takes %s', (_case, password) => {
    expect(isHashable(password)).toBe(true);
  });

  it.each([
    ['73 bytes of ASCII', 'a'.repeat(73)],
    ['72 characters of 73 bytes', `${'a'.repeat(71)}é`],
    ['64 emoji, 256 bytes, where an old binding counted from 0 again', '😀'.repeat(64)],
    ['NUL at the end', 'secret\0'],
    ['NUL inside', 'sec\0ret'],
    ['a lone high surrogate', 'secret\ud800'],
    ['a lone low surrogate', '\udc00secret'],
    ['surrogates in the wrong order', 'x\ude00\ud83dx'],
  ])('refuses %s', (_case, password) => {
    expect(isHashable(password)).toBe(false);
  });
});

it('the salt column holds the first 29 characters of a hash: prefix, cost and salt', () => {
  const hash = '$2b$10$abcdefghijklmnopqrstuuAHZ3vIWkvGvBwuOZaMbGSqMcRKyMO3W';
  expect(saltOf(hash)).toBe('$2b$10$abcdefghijklmnopqrstuu');
});
