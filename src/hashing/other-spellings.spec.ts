import { BcryptPasswordHasher } from './bcrypt-password-hasher';
import { UnusableHash } from './foreign-hash';
import { importableHash } from './importable-hash';

const client = { ip: 'ip' };
const password = 'lètmein';
const bcrypted = 'abcdefghijklmnopqrstuu';

/** Made by Django 3.2.25 and passlib 1.7.4 of the password above. The first one also stands in the tests of Django. */
const written: [source: string, algorithm: string, given: string, stored: RegExp | undefined][] = [
  [
    'Django, PBKDF2PasswordHasher',
    'pbkdf2-sha256',
    'pbkdf2_sha256$260000$seasalt$YlZ2Vggtqdc61YjArZuoApoBh9JNGYoDRBUGu6tcJQo=',
    /^\$pbkdf2-sha256\$i=260000\$c2Vhc2FsdA\$YlZ2Vggtqdc61YjArZuoApoBh9JNGYoDRBUGu6tcJQo$/,
  ],
  [
    'Django, ScryptPasswordHasher',
    'scrypt',
    'scrypt$16384$seasalt$8$1$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71m0ldQESkXFRkdVCBhhY8mx7rQwite/Pw==',
    /^\$scrypt\$ln=14,r=8,p=1\$c2Vhc2FsdA\$Qj3\+/,
  ],
  [
    'Django, Argon2PasswordHasher',
    'argon2id',
    'argon2$argon2id$v=19$m=102400,t=2,p=8$c29tZXNhbHRzb21lc2FsdA$rs07ifiIVeARNzvQ5WHWKw',
    /^\$argon2id\$v=19\$m=102400,t=2,p=8\$/,
  ],
  ['Django, BCryptPasswordHasher', 'bcrypt', `bcrypt$$2b$06$${bcrypted}Pb/IntJLlirAv12HWgtofWRkx/a4ZV.`, /^\$2b\$06\$/],
  [
    'Django, BCryptSHA256PasswordHasher',
    'bcrypt-sha256',
    `bcrypt_sha256$$2b$06$${bcrypted}l5B/dAdshjIhHjT6my8nuQ0dMXgwHGG`,
    undefined,
  ],
  [
    'passlib, pbkdf2_sha256',
    'pbkdf2-sha256',
    '$pbkdf2-sha256$29000$.//.MDEyMzQ1Njc4OWFiYw$m6GsBtEraTSvbgTZrNHnxZqBfxWpke21bD/RfQE2x9I',
    /^\$pbkdf2-sha256\$i=29000\$\+\/\/\+MDEyMzQ1Njc4OWFiYw\$/,
  ],
  [
    'passlib, bcrypt_sha256',
    'bcrypt-sha256',
    `$bcrypt-sha256$v=2,t=2b,r=6$${bcrypted}$mzcXxG9zfZbMCsSzmuZU3Q9a2Hjcviq`,
    undefined,
  ],
  [
    'passlib, bcrypt_sha256 of version 1',
    'bcrypt-sha256',
    `$bcrypt-sha256$2a,6$${bcrypted}$qgtfG3XoCKE7FPoiEstj3ZtTCJI2E72`,
    undefined,
  ],
  [
    'passlib, scrypt',
    'scrypt',
    '$scrypt$ln=14,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$NaUFeemL2mPw0xNEC4+gbza//FzpHfL6lFAjMrgzQao',
    undefined,
  ],
  [
    'passlib, argon2',
    'argon2id',
    '$argon2id$v=19$m=1024,t=2,p=2$MDEyMzQ1Njc4OWFiY2RlZg$Pr/GzSI3PI9+9k1NUkKF+A',
    undefined,
  ],
];

describe("hashes in the spelling of Django's and passlib's libraries", () => {
  const hasher = new BcryptPasswordHasher({
    ...{ cost: 7, concurrency: 1, queueLimit: 1000, queueMaxWaitMs: 60_000, now: () => performance.now() },
  });
  afterAll(() => hasher.close());

  it.each(written)('%s: its hash signs in, and only with its password', async (_source, algorithm, given, stored) => {
    const read = importableHash(given);
    expect(read.algorithm).toBe(algorithm);
    if (stored === undefined) expect(read.hash).toBe(given);
    else expect(read.hash).toMatch(stored);
    expect(await hasher.matches(password, read.hash, client)).toBe(true);
    expect(await hasher.matches(`${password}x`, read.hash, client)).toBe(false);
    expect(hasher.needsRenewal(read.hash)).toBe(true);
  });

  it('the example in the documentation of passlib (bcrypt_sha256) is the password "password"', async () => {
    const hash = '$bcrypt-sha256$v=2,t=2b,r=12$n79VH.0Q2TMWmt3Oqt9uku$Kq4Noyk3094Y2QlB8NdRT8SvGiI4ft2';
    expect(await hasher.matches('password', hash, client)).toBe(true);
    expect(await hasher.matches('Password', hash, client)).toBe(false);
  });

  it('a hash in the tests of passlib (pbkdf2_sha512) is the password "password"', async () => {
    const salt = 'RHY0Fr3IDMSVO/RSZyb5ow';
    const key = 'eNLfBK.eVozomMr.1gYa17k9B7KIK25NOEshvhrSX.esqY3s.FvWZViXz4KoLlQI.BzY/YTNJOiKc5gBYFYGww';
    const { algorithm, hash } = importableHash(`$pbkdf2-sha512$1212$${salt}$${key}`);
    expect({ algorithm, hash }).toEqual({
      algorithm: 'pbkdf2-sha512',
      hash: `$pbkdf2-sha512$i=1212$${salt}$${key.replaceAll('.', '+')}`,
    });
    expect(await hasher.matches('password', hash, client)).toBe(true);
    expect(await hasher.matches('Password', hash, client)).toBe(false);
  });

  it('a text of no known form is refused with the forms that are known', () => {
    const forms = ['a bcrypt hash', '$argon2id$', '$scrypt$', '$pbkdf2-sha256$', '$pbkdf2-sha512$', 'sha256-salted:'];
    for (const form of [...forms, 'Django or passlib']) expect(() => importableHash('secret')).toThrow(form);
  });

  const key = 'YlZ2Vggtqdc61YjArZuoApoBh9JNGYoDRBUGu6tcJQo=';
  it.each([
    ['more rounds than the bound', `pbkdf2_sha256$2000001$seasalt$${key}`],
    ['more rounds than a number of ten digits', `pbkdf2_sha256$99999999999$seasalt$${key}`],
    ['more rounds of SHA-512 than the bound', `$pbkdf2-sha512$600001$c2Vhc2FsdA$${key.slice(0, -1)}`],
    ['no rounds', `pbkdf2_sha256$0$seasalt$${key}`],
    ['no salt', `pbkdf2_sha256$1000$$${key}`],
    ['a salt that is longer than the bound', `pbkdf2_sha256$1000$${'s'.repeat(65)}$${key}`],
    ['more memory than the bound', `scrypt$262144$seasalt$8$1$${key}`],
    ['a number of blocks that is no power of two', `scrypt$16385$seasalt$8$1$${key}`],
    [
      'more memory for argon2id than the bound',
      'argon2$argon2id$v=19$m=132096,t=1,p=1$c29tZXNhbHQ$rs07ifiIVeARNzvQ5WHWKw',
    ],
    ['argon2i', 'argon2$argon2i$v=19$m=512,t=2,p=2$c29tZXNhbHQ$rs07ifiIVeARNzvQ5WHWKw'],
    ['a cost of bcrypt above the bound', `bcrypt_sha256$$2b$15$${bcrypted}l5B/dAdshjIhHjT6my8nuQ0dMXgwHGG`],
    [
      'a cost of bcrypt above the bound (passlib)',
      `$bcrypt-sha256$v=2,t=2b,r=31$${bcrypted}$mzcXxG9zfZbMCsSzmuZU3Q9a2Hjcviq`,
    ],
    ['a cost of bcrypt below 4 (passlib)', `$bcrypt-sha256$v=2,t=2b,r=3$${bcrypted}$mzcXxG9zfZbMCsSzmuZU3Q9a2Hjcviq`],
    ['an unknown version', `$bcrypt-sha256$v=3,t=2b,r=6$${bcrypted}$mzcXxG9zfZbMCsSzmuZU3Q9a2Hjcviq`],
    ['a text before argon2id of Django', 'xargon2$argon2id$v=19$m=512,t=2,p=2$c29tZXNhbHQ$rs07ifiIVeARNzvQ5WHWKw'],
    ['a text before bcrypt of Django', `xbcrypt$$2b$06$${bcrypted}Pb/IntJLlirAv12HWgtofWRkx/a4ZV.`],
    ['salted MD5 of Django', 'md5$seasalt$3f86d0d3d465b7b458c231bf3555c0e3'],
    ['an unusable password of Django', '!8cTfqxoGcTmaUjjMbWv9K2Oi9cNzOgBDHPFVLqKA'],
  ])('T700 %s is refused at the import, and the message shows nothing of the hash', (_what, hash) => {
    expect(() => importableHash(hash)).toThrow(UnusableHash);
    try {
      importableHash(hash);
    } catch (error) {
      expect((error as Error).message).not.toContain(hash.slice(-12));
    }
  });
});
