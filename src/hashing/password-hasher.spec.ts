import { isHashable } from './password-hasher';

describe('isHashable', () => {
  it.each([
    ['72 bytes of ASCII', 'a'.repeat(72)],
    ['72 bytes in 18 emoji', '😀'.repeat(18)],
    ['an empty password (the password policy refuses it)', ''],
    ['letters beyond ASCII', 'pässwörd 密码'],
  ])('%s can be hashed', (_case, password) => {
    expect(isHashable(password)).toBe(true);
  });

  it.each([
    ['73 bytes of ASCII', 'a'.repeat(73)],
    ['72 characters of 73 bytes', `${'a'.repeat(71)}é`],
    ['64 emoji, 256 bytes, a length that overflowed to 0 in an old binding', '😀'.repeat(64)],
    ['NUL at the end', 'secret\0'],
    ['NUL inside', 'sec\0ret'],
    ['a lone high surrogate', 'secret\ud800'],
    ['a lone low surrogate', '\udc00secret'],
    ['surrogates in the wrong order', 'x\ude00\ud83dx'],
  ])('%s is refused', (_case, password) => {
    expect(isHashable(password)).toBe(false);
  });
});
