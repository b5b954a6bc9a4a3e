import { pathOf, safePath } from '../../portal/src/return-to';

describe('return_to of the login page', () => {
  it.each([
    '/reports',
    '/reports?x=1',
    '/reports?next=https%3A%2F%2Fportal.example%2F&q=a%20b#top',
    '/a//b',
    '/%E6%8A%A5%E5%91%8A',
    '/100%25',
    '/account/authenticator',
  ])('%s is a path of this origin', (path) => expect(safePath(path)).toBe(path));

  it('a path is returned as a browser reads it', () => {
    expect(safePath('/a/../reports/./x')).toBe('/reports/x');
    expect(safePath('/报告?q=报')).toBe('/%E6%8A%A5%E5%91%8A?q=%E6%8A%A5');
  });

  it.each([
    ['nothing', undefined],
    ['nothing', null],
    ['an empty text', ''],
    ['a relative path', 'reports'],
    ['a host without a scheme', 'evil.example'],
    ['a query', '?x=1'],
    ['another scheme', 'https://evil.example/'],
    ['a scheme without slashes', 'https:evil.example'],
    ['a script', 'javascript:alert(1)'],
    ['a script after a tab', '\tjavascript:alert(1)'],
    ['data', 'data:text/html,x'],
    ['an inherited scheme', '//evil.example'],
    ['three slashes', '///evil.example'],
    ['a backslash', '/\\evil.example'],
    ['two backslashes', '\\\\evil.example'],
    ['a backslash later', '/reports\\..\\x'],
    ['a tab between slashes', '/\t/evil.example'],
    ['a line break between slashes', '/\n/evil.example'],
    ['a carriage return', '/reports\r\nSet-Cookie: a=b'],
    ['a null character', '/\0/evil.example'],
    ['a blank first', ' /reports'],
    ['a blank first, then another site', ' //evil.example'],
    ['a mark that reverses text', '/\u202emoc.live'],
    ['a zero-width space first', '\u200b//evil.example'],
    ['dots before an empty segment', '/..//evil.example'],
    ['a dot before an empty segment', '/.//evil.example'],
    ['encoded dots before an empty segment', '/%2e%2e//evil.example'],
    ['an encoded slash', '/%2fevil.example'],
    ['an encoded slash, upper case', '/%2Fevil.example'],
    ['a slash encoded twice', '/%252fevil.example'],
    ['a slash encoded three times', '/%25252fevil.example'],
    ['an encoded backslash', '/%5cevil.example'],
    ['a backslash encoded twice', '/%255cevil.example'],
    ['an encoded tab', '/%09/evil.example'],
    ['an encoded line break', '/reports%0d%0aSet-Cookie:a=b'],
    ['an encoded null character', '/reports%00.html'],
    ['an encoding that is not complete', '/reports%2'],
    ['an encoding that is not UTF-8', '/%c0%afevil.example'],
    ['a text that is too long', `/${'x'.repeat(2048)}`],
  ])('%s is ignored: %j', (_what, text) => expect(safePath(text)).toBeUndefined());

  it.each([
    ['/', '/'],
    ['/?x=1', '/'],
    ['/code', '/code'],
    ['/CODE/?x=1#y', '/code'],
    ['/%63ode', '/code'],
    ['/account', '/account'],
  ])('the router shows %s as %s, so a login cannot lead back to itself', (path, page) =>
    expect(pathOf(path)).toBe(page),
  );
});
