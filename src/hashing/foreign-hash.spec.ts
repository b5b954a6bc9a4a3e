import { createHash } from 'node:crypto';
import { BcryptPasswordHasher } from './bcrypt-password-hasher';
import { foreignHashOf, foreignMemoryLimit, UnusableHash } from './foreign-hash';
import { importableHash } from './importable-hash';

const client = { ip: 'ip' };
const b64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64').replace(/=+$/, '');
const text = (plain: string) => b64(Buffer.from(plain).toString('hex'));

/** Published test vectors: the name of the source, the password, the hash. */
const vectors: [string, string, string][] = [
  // test.c of https://github.com/P-H-C/phc-winner-argon2
  [
    'argon2id of the reference implementation, 64 MiB',
    'password',
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  ],
  [
    'argon2id of the reference implementation, 256 KiB',
    'password',
    '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
  ],
  [
    'argon2id of the reference implementation, two lanes',
    'password',
    '$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc',
  ],
  [
    'scrypt of RFC 7914, section 12',
    'password',
    `$scrypt$ln=10,r=8,p=16$${text('NaCl')}$${b64('fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640')}`,
  ],
  [
    'scrypt of RFC 7914, section 12',
    'pleaseletmein',
    `$scrypt$ln=14,r=8,p=1$${text('SodiumChloride')}$${b64('7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887')}`,
  ],
  [
    'PBKDF2-HMAC-SHA-256 of RFC 7914, section 11 (the first block)',
    'passwd',
    `$pbkdf2-sha256$i=1$${text('salt')}$${b64('55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc')}`,
  ],
  [
    'PBKDF2-HMAC-SHA-256 of RFC 7914, section 11 (the first block)',
    'Password',
    `$pbkdf2-sha256$i=80000$${text('NaCl')}$${b64('4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56')}`,
  ],
  [
    'PBKDF2-HMAC-SHA-512 of the tests of passlib 1.7.4',
    'password',
    '$pbkdf2-sha512$i=1212$RHY0Fr3IDMSVO/RSZyb5ow$eNLfBK+eVozomMr+1gYa17k9B7KIK25NOEshvhrSX+esqY3s+FvWZViXz4KoLlQI+BzY/YTNJOiKc5gBYFYGww',
  ],
  [
    'SHA-256 of FIPS 180-4: "abc", the salt is its first letter',
    'bc',
    'sha256-salted:a:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD',
  ],
];

describe('password hashes of other systems', () => {
  const reports: string[] = [];
  const hasher = new BcryptPasswordHasher({
    cost: 4,
    concurrency: 2,
    queueLimit: 1000,
    queueMaxWaitMs: 60_000,
    now: () => performance.now(),
    report: (problem) => reports.push(problem),
  });
  afterAll(() => hasher.close());

  it.each(vectors)('%s: the password %j matches, another one does not', async (_source, password, hash) => {
    expect(await hasher.matches(password, hash, client)).toBe(true);
    expect(await hasher.matches(`${password}x`, hash, client)).toBe(false);
    const other = hash.replace(
      /(.)([^$:]*)$/,
      (_end, first: string, rest: string) => (first === '1' ? '2' : '1') + rest,
    );
    expect(await hasher.matches(password, other, client)).toBe(false);
    expect(hasher.needsRenewal(hash)).toBe(true);
  });

  it('they are computed on the hash threads: the event loop runs meanwhile', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const slow = '$pbkdf2-sha256$i=2000000$c29tZXNhbHQ$c29tZXNhbHRzb21lc2FsdA';
    expect(await hasher.matches('x', slow, client)).toBe(false);
    clearInterval(timer);
    // The loop would not turn if the two million rounds ran on it.
    expect(turns).toBeGreaterThan(1);
  });

  it('a password of more than 72 bytes matches, because the other system has read all of it', async () => {
    const long = 'ä'.repeat(100);
    const hash = `sha256-salted:Zürich:${createHash('sha256').update(`Zürich${long}`).digest('hex')}`;
    expect(await hasher.matches(long, hash, client)).toBe(true);
    expect(await hasher.matches(long.slice(0, -1), hash, client)).toBe(false);
  });

  it.each([
    ['NUL', 'a\0b'],
    ['a lone surrogate', 'a\ud800'],
  ])('a password with %s never matches', async (_what, password) => {
    const hash = `sha256-salted:s:${createHash('sha256').update(`s${password}`).digest('hex')}`;
    expect(await hasher.matches(password, hash, client)).toBe(false);
  });

  it.each([
    ['argon2id with 129 MiB', '$argon2id$v=19$m=132096,t=1,p=1$c29tZXNhbHQ$', 'm from 8·p to 131072'],
    ['argon2id of 2 GiB (the first choice of RFC 9106)', '$argon2id$v=19$m=2097152,t=1,p=4$c29tZXNhbHQ$', '131072'],
    ['argon2id with too many passes', '$argon2id$v=19$m=65536,t=17,p=1$c29tZXNhbHQ$', 'm·t up to 1048576'],
    ['argon2id with too many lanes', '$argon2id$v=19$m=65536,t=1,p=17$c29tZXNhbHQ$', 'p up to 16'],
    ['argon2id with less memory than its lanes need', '$argon2id$v=19$m=8,t=1,p=2$c29tZXNhbHQ$', 'm from 8·p'],
    ['argon2id with a short salt', '$argon2id$v=19$m=256,t=1,p=1$c2FsdA$', 'a salt of 8 bytes'],
    ['scrypt of 256 MiB', '$scrypt$ln=18,r=8,p=1$c2FsdA$', '2^ln·r·p up to 1048576'],
    ['scrypt with an N without end', '$scrypt$ln=999999,r=8,p=1$c2FsdA$', 'ln below 16·r'],
    ['scrypt with a large r', '$scrypt$ln=1,r=9999999,p=1$c2FsdA$', '2^ln·r·p'],
    ['scrypt with too much parallel work', '$scrypt$ln=16,r=8,p=16$c2FsdA$', '2^ln·r·p'],
    ['pbkdf2 with too many rounds', '$pbkdf2-sha256$i=2000001$c2FsdA$', 'i up to 2000000'],
    ['pbkdf2 of SHA-512 with too many rounds', '$pbkdf2-sha512$i=600001$c2FsdA$', 'i up to 600000'],
  ])('%s is refused at the import with its reason, and computed at no login (T343)', async (_what, begin, reason) => {
    const hash = `${begin}${text('k'.repeat(32))}`;
    expect(() => importableHash(hash)).toThrow(UnusableHash);
    expect(() => importableHash(hash)).toThrow(reason);
    reports.length = 0;
    expect(await hasher.matches('x', hash, client)).toBe(false);
    expect(reports).toEqual([expect.stringContaining(reason)]);
    expect(reports.join()).not.toContain(hash.slice(-20));
  });

  it.each([
    ['a key of 15 bytes', `$pbkdf2-sha256$i=1$c2FsdA$${text('k'.repeat(15))}`],
    ['an empty key', '$pbkdf2-sha256$i=1$c2FsdA$'],
    ['a key of 65 bytes', `$pbkdf2-sha256$i=1$c2FsdA$${text('k'.repeat(65))}`],
    ['more rounds than a number holds', `$pbkdf2-sha256$i=99999999999999999999$c2FsdA$${text('k'.repeat(32))}`],
    ['zero rounds', `$pbkdf2-sha256$i=0$c2FsdA$${text('k'.repeat(32))}`],
    ['padded base64', '$pbkdf2-sha256$i=1$c2FsdA==$a2tra2tra2tra2tra2traw=='],
    ['argon2i', `$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$${text('k'.repeat(32))}`],
    ['version 16 of argon2', `$argon2id$v=16$m=256,t=2,p=1$c29tZXNhbHQ$${text('k'.repeat(32))}`],
    ['other parameters', `$argon2id$v=19$t=2,m=256,p=1$c29tZXNhbHQ$${text('k'.repeat(32))}`],
    ['a line break at the end', `$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$${text('k'.repeat(32))}\n`],
    ['sha256-salted without a salt', `sha256-salted::${'0'.repeat(64)}`],
    ['a salt that the column does not hold', `sha256-salted:${'s'.repeat(200)}:${'0'.repeat(64)}`],
    ['plain text', 'secret'],
    ['bcrypt of cost 15', '$2b$15$abcdefghijklmnopqrstuuAHZ3vIWkvGvBwuOZaMbGSqMcRKyMO3W'],
  ])('%s is refused', (_what, hash) => {
    expect(() => importableHash(hash)).toThrow(UnusableHash);
  });

  it('comparisons that run at the same time take at most 128 MiB together, whatever the number of threads is (T343)', async () => {
    const ends: (() => void)[] = [];
    const engine = {
      name: 'native' as const,
      hash: () => Promise.resolve(''),
      verify: () => Promise.resolve(false),
      verifyPair: () => Promise.resolve([false, false] as [boolean, boolean]),
      verifyForeign: () => new Promise<boolean>((end) => ends.push(() => end(true))),
      close: () => Promise.resolve(),
    };
    const threads = new BcryptPasswordHasher({
      ...{ cost: 4, concurrency: 8, queueLimit: 1000, queueMaxWaitMs: 60_000, now: () => performance.now() },
      engine,
    });
    const large = `$scrypt$ln=16,r=8,p=1$c2FsdA$${text('k'.repeat(32))}`;
    expect(foreignHashOf(large)?.memory).toBe(foreignMemoryLimit / 2);
    const answers = Array.from({ length: 5 }, () => threads.matches('x', large, client));
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    for (const running of [2, 3, 4, 5, 5]) {
      await turn();
      expect(ends).toHaveLength(running);
      ends[running === 5 ? ends.length - 1 : running - 2]?.();
    }
    ends.forEach((end) => end());
    expect(await Promise.all(answers)).toEqual(Array(5).fill(true));
  });
});
