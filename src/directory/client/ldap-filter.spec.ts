import ldapjs from 'ldapjs';
import { isSearchFilter } from './ldap-filter';

const wellFormed = [
  '(uid=x)',
  '(&(objectClass=person)(uid=x))',
  '(|(uid=x)(mail=x))',
  '(&(|(uid=x)(mail=x))(!(status=off)))',
  '(uid=*x*)',
  '(cn=*)',
  '(cn=\\28a\\29)',
  '(age>=18)',
  '(memberOf:1.2.840.113556.1.4.1941:=cn=portal,dc=example)',
  '(cn:dn:caseIgnoreMatch:=x)',
  '(cn=Łęcka)',
];

const broken = [
  '',
  'uid=x',
  '(uid=x',
  'uid=x)',
  '((uid=x))',
  '(&)',
  '(&(uid=x) (cn=y))',
  '(&(uid=x)',
  '(&(uid=x)y',
  '(uid=x))',
  '(uid=(x))',
  '(uid=\\zz)',
  '(=x)',
  '(uid)',
  '(!(a=b)(c=d))',
  '(&(uid=x)(cn=y)))',
];

describe('LDAP_SEARCH_FILTER', () => {
  it.each(wellFormed)('accepts %s, which the LDAP library can read', (filter) => {
    expect(isSearchFilter(filter)).toBe(true);
    expect(() => ldapjs.parseFilter(filter)).not.toThrow();
  });

  it.each(broken)('refuses %j', (filter) => {
    expect(isSearchFilter(filter)).toBe(false);
  });
});
