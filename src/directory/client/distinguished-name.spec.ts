import { isDistinguishedName } from './distinguished-name';

describe('the syntax of a DN (RFC 4514)', () => {
  it.each([
    'cn=portal,dc=example',
    'CN=Portal Users, OU=Groups, DC=example, DC=com',
    String.raw`CN=Sales\, North,DC=example`,
    String.raw`CN=Sales\2C North,DC=example`,
    'cn=a+uid=b,dc=example',
    'CN=Größe = Maß,DC=example',
    '1.3.6.1.4.1.1466.0=#04024869,dc=example',
  ])('accepts %s', (text) => expect(isDistinguishedName(text)).toBe(true));

  it.each([
    'portal',
    'cn=',
    ',dc=example',
    'cn=portal,',
    'cn=portal;dc=example',
    'cn=portal,,dc=example',
    'cn=por"tal,dc=example',
    String.raw`cn=portal\,dc`.slice(0, -3),
    'cn=portal,example',
    '(cn=portal)',
  ])('refuses %s', (text) => expect(isDistinguishedName(text)).toBe(false));

  it('answers for a long text without a separator in time', () => {
    expect(isDistinguishedName(`cn=${'a+'.repeat(500)}`)).toBe(false);
    expect(isDistinguishedName(`cn=${' '.repeat(500)}"`)).toBe(false);
  });
});
