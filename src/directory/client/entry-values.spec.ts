import { entryValues, expiryOf, guidBytes, idOf, isDisabled } from './entry-values';

const values = (raw: Record<string, string | Buffer | string[]>) =>
  entryValues(
    Object.fromEntries(
      Object.entries(raw).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map((one) => Buffer.from(one)) : Buffer.from(value as string),
      ]),
    ),
  );

/** The bytes in the order of the wire, and the text. */
const guid = { bytes: '0c8a1cf4d3b74b4c9cd01f4e2b1d7c88', text: 'f41c8a0c-b7d3-4c4b-9cd0-1f4e2b1d7c88' };

describe('the id of an entry', () => {
  it('objectGUID is written as Microsoft prints it, and read back', () => {
    expect(idOf(values({ OBJECTGUID: Buffer.from(guid.bytes, 'hex') }))).toBe(guid.text);
    expect(guidBytes(guid.text).toString('hex')).toBe(guid.bytes);
  });

  it('entryUUID is its text in lower case', () => {
    expect(idOf(values({ entryUUID: guid.text.toUpperCase() }))).toBe(guid.text);
  });

  it.each([
    ['a short objectGUID', { objectGUID: 'short' }],
    ['an entryUUID that is no UUID', { entryUUID: 'alice' }],
    ['no attribute', {}],
  ])('%s is no id', (_what, raw) => expect(idOf(values(raw as Record<string, string>))).toBeNull());
});

describe('the state of an account', () => {
  it.each([
    [{ userAccountControl: '514' }, true],
    [{ userAccountControl: '512' }, false],
    [{ userAccountControl: '66050' }, true],
    [{ pwdAccountLockedTime: '000001010000Z' }, true],
    [{ pwdAccountLockedTime: '20260302100000Z' }, false],
    [{ nsAccountLock: 'TRUE' }, true],
    [{}, false],
  ])('%j is disabled: %s', (raw, disabled) => {
    expect(isDisabled(values(raw as Record<string, string>))).toBe(disabled);
  });

  it.each([
    ['0', null],
    ['9223372036854775807', null],
    ['', null],
    ['soon', null],
    ['116444736000000000', '1970-01-01T00:00:00.000Z'],
    ['134169120000000000', '2026-03-02T08:00:00.000Z'],
  ])('accountExpires %j is %s', (text, expected) => {
    expect(expiryOf(values({ accountExpires: text }))?.toISOString() ?? null).toBe(expected);
  });
});
