import { randomBytes } from 'node:crypto';
import { bitsOfVariety, minVarietyBits } from './secret-variety';

const bits = (secret: string) => bitsOfVariety(Buffer.from(secret, 'utf8'));

describe('bitsOfVariety', () => {
  it.each([
    ['one letter', 'x'.repeat(32)],
    ['one letter, very often', 'x'.repeat(4096)],
    ['two letters', 'ab'.repeat(32)],
    ['two letters without a pattern', 'abbabaabbaababbabaababbaabbabaab'],
    ['a word four times', 'changeme'.repeat(4)],
    ['a word cut off', 'passwordpasswordpasswordpasswordpass'],
    ['a passphrase three times', 'correct-horse-'.repeat(3)],
    ['an alphabet twice', '0123456789abcdef'.repeat(2)],
    ['32 digits', '31415926535897932384626433832795'],
    ['32 digits, one of which is zero', '31415926535897932384626433832790'],
    ['a placeholder', '<change-me><change-me><change-me>'],
    ['zeros and a one', `${'0'.repeat(40)}1`],
    ['nothing', ''],
  ])('is less than 128 for %s', (_what, secret) => expect(bits(secret)).toBeLessThan(minVarietyBits));

  it.each([
    ['32 hexadecimal digits', '9f86d081884c7d659a2feaa0c55ad015'],
    ['a sentence of its own', 'a-secret-that-is-long-enough-for-HS256'],
    ['characters of several bytes', '密码学家的长秘密短语呀'],
    ['39 digits', '314159265358979323846264338327950288419'],
  ])('is enough for %s', (_what, secret) => expect(bits(secret)).toBeGreaterThanOrEqual(minVarietyBits));

  it('is enough for the output of generators: openssl rand -base64 24 and more, -hex 32, keys generate', () => {
    for (let n = 0; n < 2000; n++) {
      const secrets = [
        randomBytes(24).toString('base64'),
        randomBytes(32).toString('hex'),
        randomBytes(48).toString('base64url'),
      ];
      for (const secret of secrets) expect(bits(secret)).toBeGreaterThanOrEqual(minVarietyBits);
    }
  });

  it('is computed for a secret of 120,000 characters, the size of an environment variable', () => {
    expect(bits(`${'ab'.repeat(60_000)}c`)).toBeGreaterThanOrEqual(minVarietyBits);
  });
});
