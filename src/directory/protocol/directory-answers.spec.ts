import { attribute, element, text } from '../../../test/support/ber';
import { result } from '../../../test/support/directory-stub';
import { DirectoryAnswers } from './directory-answers';

const id = Buffer.of(0x02, 1, 1);
const message = (...parts: Buffer[]) => element(0x30, id, ...parts);
const entry = (...attributes: Buffer[]) => element(0x64, text('uid=a,dc=example'), element(0x30, ...attributes));
const done = message(result(0x65, { code: 0 }));
const reference = message(element(0x73, text('ldap://127.0.0.1:1/dc=a')));

/** The message as ldapjs gets it: its length is written in four bytes. */
function passed(whole: Buffer): string {
  const contents = whole.subarray(2);
  return Buffer.concat([Buffer.of(0x30, 0x84, 0, 0, 0, contents.length), contents]).toString('hex');
}

describe('the check of answers before ldapjs reads them', () => {
  const read = (...pieces: Buffer[]) => {
    const answers = new DirectoryAnswers();
    return pieces.flatMap((piece) => [...answers.messagesOf(piece)]).map((one) => one.toString('hex'));
  };

  it.each([
    ['a bind response', message(result(0x61, { code: 0 }))],
    ['a refusal with its reason', message(result(0x61, { code: 49, message: 'data 52e, v4563' }))],
    ['a referral', message(result(0x65, { code: 10, referral: 'ldap://127.0.0.1:1' }))],
    ['a bind response with credentials', message(element(0x61, Buffer.from('0a010004000400870178', 'hex')))],
    ['a result code without a name', message(result(0x61, { code: 97 }))],
    ['an entry', message(entry(attribute('uid', 'a'), attribute('mail', 'a@x.test', 'b@x.test'), attribute('cn')))],
  ])('passes %s on unchanged', (_what, bytes) => {
    expect(read(bytes)).toEqual([passed(bytes)]);
  });

  it('accepts the long form of lengths that Active Directory sends', () => {
    const bytes = Buffer.from('30840000001002010161840000000' + '70a010004000400', 'hex');
    expect(read(bytes)).toEqual([bytes.toString('hex')]);
  });

  it('removes controls', () => {
    const control = element(0xa0, element(0x30, text('1.2.840.113556.1.4.319')));
    expect(read(message(result(0x65, { code: 0 }), control))).toEqual([passed(done)]);
  });

  it('joins messages from pieces of any size, and splits several messages in one piece', () => {
    const bytes = Buffer.concat([message(entry(attribute('uid', 'a'))), reference, done]);
    const expected = [passed(message(entry(attribute('uid', 'a')))), passed(done)];
    expect(read(bytes)).toEqual(expected);
    expect(read(...Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(expected);
  });

  it('does not pass on references, intermediate responses and the notice of disconnection', () => {
    const notice = element(0x30, Buffer.of(0x02, 1, 0), result(0x78, { code: 52 }));
    expect(read(Buffer.concat([reference, notice, message(element(0x79))]))).toEqual([]);
  });

  it('passes on the first two of many entries, because two are already an ambiguous match', () => {
    const found = message(entry(attribute('uid', 'a')));
    expect(read(Buffer.concat([...Array<Buffer>(500).fill(found), done]))).toHaveLength(3);
  });

  it.each([
    ['a result without a status', '30050201016100'],
    ['an empty status', '300b02010161060a0004000400'],
    ['a status of five bytes', '301002010161' + '0b0a05000000000004000400'],
    ['no message id', '30076105' + '0a01000400'],
    ['a result that ends before its text', '300a02010161050a01000400'],
    ['bytes after the result', '300e02010161090a0100040004000400'],
    ['a request', '300c02010160070a010004000400'],
    ['bytes after the operation that are not controls', '300e02010161070a0100040004000500'],
    ['an element that is not a message', '0400'],
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request').toString('hex')],
  ])('refuses %s as malformed', (_what, hex) => {
    expect(() => read(Buffer.from(hex, 'hex'))).toThrow('malformed answer');
  });

  it.each([1, 2, 100])('refuses an entry whose values end %d bytes too late as malformed', (bytes) => {
    const whole = message(entry(attribute('uid', 'a')));
    whole[whole.lastIndexOf(0x31) + 1]! += bytes;
    expect(() => read(whole)).toThrow('malformed answer');
  });

  it.each(['dn', 'controls', '__proto__'])(
    'refuses an attribute with the name %s, which ldapjs uses itself, as malformed',
    (name) => {
      expect(() => read(message(entry(attribute(name, 'a', 'b'))))).toThrow('malformed answer');
    },
  );

  it('reads the results of as many searches as 100 groups of LDAP_GROUPS and two others need', () => {
    expect(read(Buffer.concat(Array<Buffer>(309).fill(done)))).toHaveLength(309);
  });

  it('refuses more results than a connection has requests', () => {
    expect(() => read(Buffer.concat(Array<Buffer>(310).fill(done)))).toThrow('malformed answer');
  });

  it.each([
    ['an announced length of 2 GB', Buffer.from('30847fffffff', 'hex')],
    ['an indefinite length', Buffer.from('3080', 'hex')],
    ['a length of five bytes', Buffer.from('30850000000001', 'hex')],
    ['more than 256 KiB in small messages', Buffer.concat(Array<Buffer>(10_000).fill(reference))],
    [
      'more than 10,000 values',
      message(entry(element(0x30, text('uid'), element(0x31, Buffer.alloc(20_002, '0400', 'hex'))))),
    ],
  ])('refuses %s as too large', (_what, bytes) => {
    expect(() => read(bytes)).toThrow('answer too large');
  });
});
