import { filterFor, filterForExactName, filterValue } from './search-filter';

describe('a name in a search filter (RFC 4515 §3)', () => {
  it.each([
    ['alice', 'alice'],
    ['*', '\\2a'],
    ['*)(uid=*', '\\2a\\29\\28uid=\\2a'],
    ['\\2a', '\\5c2a'],
    ['a\0b', 'a\\00b'],
    ['Łęcka', 'Łęcka'],
    ["$'$`$&$$", "$'$`$&$$"],
  ])('%j is written as %j', (name, written) => {
    expect(filterValue(name)).toBe(written);
  });

  it('escapes a placeholder in a name, because ldapauth-fork would replace it', () => {
    expect(filterFor('(uid={{username}})', "{{username}}$'")).toBe("(uid=\\7b\\7busername\\7d\\7d$')");
  });

  it('replaces every placeholder', () => {
    expect(filterFor('(|(uid={{username}})(mail={{username}}))', 'a*')).toBe('(|(uid=a\\2a)(mail=a\\2a))');
  });

  it('filterForExactName also requires that the login name attribute is the exact name', () => {
    expect(filterForExactName('(mail={{username}})', 'uid', 'a(b')).toBe('(&(mail=a\\28b)(uid=a\\28b))');
  });
});
