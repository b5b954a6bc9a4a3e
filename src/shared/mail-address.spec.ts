import { domainOf, isPlainAddress, mailboxOf } from './mail-address';

describe('isPlainAddress', () => {
  it.each([
    'alice@example.com',
    'a.b+tag@sub.example.co.uk',
    'no-reply@localhost',
    "o'hara@example.com",
    'álice@bücher.example',
  ])('accepts %s', (address) => expect(isPlainAddress(address)).toBe(true));

  it.each([
    ['a list', 'a@example.com,b@evil.test'],
    ['a list with semicolon', 'a@example.com;b@evil.test'],
    ['a group', 'x:a@evil.test;'],
    ['a name', 'Alice <a@example.com>'],
    ['a line break', 'a@example.com\r\nBcc: b@evil.test'],
    ['a bare line feed', 'a@example.com\nb'],
    ['a quoted local part (CVE-2025-13033)', '"a@evil.test x"@example.com'],
    ['a comment', 'a(b@evil.test)@example.com'],
    ['a route', '@evil.test:a@example.com'],
    ['a second @', 'a@evil.test@example.com'],
    ['a domain literal', 'a@[127.0.0.1]'],
    ['a space', 'a b@example.com'],
    ['an encoded word', '=?utf-8?q?a=40evil.test?=@example.com '],
    ['a full-width @', 'a＠example.com'],
    ['a host that NFKC turns into another', 'a@ｅxample.com'],
    ['NUL', 'a\0@example.com'],
    ['no local part', '@example.com'],
    ['no domain', 'a@'],
    ['dots at the edges', '.a@example.com'],
    ['65 characters before the @', `${'a'.repeat(65)}@example.com`],
    ['255 characters', `a@${'b'.repeat(253)}`],
    ['a key of 282 characters (NFKC)', `${'ﷺ'.repeat(15)}@example.com`],
    ['a key of 270 characters (lower case)', `a@${'İ'.repeat(130)}.example`],
    ['an array', ['a@example.com']],
    ['a missing value', undefined],
  ])('refuses %s', (_, address) => expect(isPlainAddress(address)).toBe(false));

  it('T134 needs no quadratic time for a long hostile text (CVE-2025-14874)', () => {
    const started = performance.now();
    isPlainAddress(`${'a.'.repeat(100_000)}@${'b-'.repeat(100_000)}`);
    isPlainAddress(`${'a.'.repeat(32)}@${'b-'.repeat(90)}!`);
    // In quadratic time this would take minutes.
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

it('domainOf returns only the domain, for the log', () => {
  expect(domainOf('Alice@Example.COM')).toBe('example.com');
  expect(domainOf('a@evil.test\r\nBcc: b@example.com')).toBe('not an address');
});

describe('mailboxOf', () => {
  it.each([
    ['no-reply@example.com', { name: '', address: 'no-reply@example.com' }],
    ['Portal <no-reply@example.com>', { name: 'Portal', address: 'no-reply@example.com' }],
    ['"Portal, Inc." <no-reply@example.com>', { name: 'Portal, Inc.', address: 'no-reply@example.com' }],
    ['企业门户 <no-reply@example.com>', { name: '企业门户', address: 'no-reply@example.com' }],
    ['<no-reply@example.com>', { name: '', address: 'no-reply@example.com' }],
  ])('reads %s', (text, mailbox) => expect(mailboxOf(text)).toEqual(mailbox));

  it.each(['', 'Portal', 'Portal <a@b.test>, <c@d.test>', 'Por\r\ntal <a@b.test>', 'a@b.test, c@d.test'])(
    'refuses %j',
    (text) => expect(mailboxOf(text)).toBeUndefined(),
  );
});
