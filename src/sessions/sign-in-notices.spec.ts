import { loadBrowserNames } from './sign-in-notices';

describe('the name of a browser', () => {
  let nameOf: (userAgent: string) => string;
  beforeAll(async () => {
    nameOf = await loadBrowserNames();
  });

  const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';

  it.each([
    [`${windows} ${webkit} Chrome/142.0.0.0 Safari/537.36`, 'Chrome, Windows'],
    [`${windows} ${webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`, 'Microsoft Edge, Windows'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox, Linux'],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
      'Safari, macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
      'Safari, iOS',
    ],
    [`Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/142.0.0.0 Mobile Safari/537.36`, 'Chrome, Android'],
  ])('of %s is %s', (userAgent, name) => expect(nameOf(userAgent)).toBe(name));

  it('has no version, so an update is no new browser', () => {
    const version = (n: number) => nameOf(`${windows} ${webkit} Chrome/${n}.0.0.0 Safari/537.36`);
    expect(version(141)).toBe(version(142));
  });

  it.each([
    '',
    'curl/8.5.0',
    'x',
    'Call +1 555 0100 now/1.0 (Windows)',
    '<b>Firefox',
    'constructor/1.0 (x)',
    '/'.repeat(512),
  ])('of %j is one word of this service: no text of a client reaches a mail', (userAgent) =>
    expect(nameOf(userAgent)).toMatch(/^(unknown|Firefox)$/),
  );
});
