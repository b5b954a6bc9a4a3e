import { filterFor, filterValue, memberFilters, memberOfGroupFilter } from './search-filter';

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

  it('escapes a placeholder in a name, so that it is never replaced', () => {
    expect(filterFor('(uid={{username}})', "{{username}}$'")).toBe("(uid=\\7b\\7busername\\7d\\7d$')");
  });

  it('replaces every placeholder', () => {
    expect(filterFor('(|(uid={{username}})(mail={{username}}))', 'a*')).toBe('(|(uid=a\\2a)(mail=a\\2a))');
  });

  it('escapes the DNs of groups and members', () => {
    expect(memberFilters('cn=a\\,b (c),dc=d')[1]).toBe('(memberOf=cn=a\\5c,b \\28c\\29,dc=d)');
    expect(memberOfGroupFilter('cn=a*')).toBe('(|(member=cn=a\\2a)(uniqueMember=cn=a\\2a))');
  });
});
