import type { ApplicationType } from './application.entity';
import {
  type ApplicationFields,
  ApplicationProblem,
  applicationScopes,
  checkedFields,
  newApplicationFields,
} from './application-rules';

const wrong = (given: Partial<ApplicationFields>, type: ApplicationType = 'web', production = true) => {
  try {
    checkedFields(given, { type, production });
    return {};
  } catch (error) {
    if (error instanceof ApplicationProblem) return error.fields;
    throw error;
  }
};
const wrongRedirect = (uri: string, type?: ApplicationType, production?: boolean) =>
  wrong({ redirect_uris: [uri] }, type, production)['redirect_uris[0]']?.[0];

describe('the fields of an application', () => {
  it.each([
    ['web', 'https://app.example.com/callback'],
    ['web', 'https://app.example.com'],
    ['web', 'https://app.example.com:8443/a/b?tenant=1'],
    ['spa', 'https://app.example.com/callback/%C3%BC'],
    ['web', 'https://xn--bcher-kva.example/cb'],
    ['native', 'https://app.example.com/callback'],
    ['native', 'http://127.0.0.1/callback'],
    ['native', 'http://127.0.0.1:49152/callback'],
    ['native', 'http://[::1]:49152/callback'],
  ] as const)('%s accepts the redirect URI %s', (type, uri) => {
    expect(wrongRedirect(uri, type)).toBeUndefined();
  });

  it.each([
    ['https://app.example.com/*', 'wildcard'],
    ['https://*.example.com/callback', 'wildcard'],
    ['https://app.example.com/callback?next=*', 'wildcard'],
    ['https://app.example.com/callback#', 'fragment'],
    ['https://app.example.com/callback#token', 'fragment'],
    ['https://user@app.example.com/callback', 'user name'],
    ['https://user:password@app.example.com/callback', 'user name'],
    ['https://app.example.com@evil.example/callback', 'user name'],
    ['https://@app.example.com/callback', 'normal form: https://app.example.com/callback'],
    ['http://app.example.com/callback', 'must be https'],
    ['http://127.0.0.1:3000/callback', 'must be https'],
    ['http://localhost:3000/callback', 'must be https'],
    ['com.example.app:/callback', 'must be https'],
    ['custom://callback', 'must be https'],
    ['javascript:alert(1)', 'must be https'],
    ['data:text/html,x', 'must be https'],
    ['file:///etc/passwd', 'must be https'],
    ['ftp://app.example.com/callback', 'must be https'],
    ['//app.example.com/callback', 'absolute'],
    ['/callback', 'absolute'],
    ['callback', 'absolute'],
    ['https://', 'absolute'],
    ['https:///callback', 'normal form'],
    ['https:app.example.com/callback', 'normal form'],
    ['https:/app.example.com/callback', 'normal form'],
    ['https://app.example.com:443/callback', 'normal form'],
    ['https://app.example.com:99999/callback', 'absolute'],
    ['HTTPS://app.example.com/callback', 'normal form'],
    ['https://APP.example.com/callback', 'normal form'],
    ['https://app.example.com/a/../callback', 'normal form'],
    ['https://app.example.com/a/%2e%2e/callback', 'normal form'],
    ['https://app.example.com/./callback', 'normal form'],
    ['https://app.example.com?x=1', 'normal form'],
    ['https://0x7f000001/callback', 'normal form: https://127.0.0.1/callback'],
    ['https://2130706433/callback', 'normal form'],
    ['https://app.example.com\\@evil.example/callback', 'characters'],
    ['https://app.example.com\\callback', 'characters'],
    ['https://app.example.com/call back', 'characters'],
    [' https://app.example.com/callback', 'characters'],
    ['https://app.example.com/callback ', 'characters'],
    ['https://app.example.com/callback\n', 'characters'],
    ['https://app.example.com/\r\nLocation:x', 'characters'],
    ['https://app.example.com/\u0000', 'characters'],
    ['https://app.example.com/\t', 'characters'],
    ['https://аpp.example.com/callback', 'characters'],
    ['https://bücher.example/callback', 'characters'],
    ['https://app.example.com/"', 'characters'],
    ['https://app.example.com/<script>', 'characters'],
    ['https://app.example.com/{tenant}', 'characters'],
    ['', 'must be a text'],
  ])('web refuses the redirect URI %j (T490)', (uri, reason) => {
    expect(wrongRedirect(uri)).toContain(reason);
  });

  it('a redirect URI of more than 2048 characters is refused', () => {
    expect(wrongRedirect('https://app.example.com/'.padEnd(2048, 'x'))).toBeUndefined();
    expect(wrongRedirect('https://app.example.com/'.padEnd(2049, 'x'))).toContain('2048 characters');
  });

  it.each([
    'http://localhost:49152/callback',
    'http://127.0.0.2/callback',
    'http://127.1/callback',
    'http://127.0.0.1.evil.example/callback',
    'http://[::ffff:127.0.0.1]/callback',
    'http://[::]/callback',
    'http://0.0.0.0/callback',
    'com.example.app:/callback',
  ])('native refuses the redirect URI %s (T490)', (uri) => {
    expect(wrongRedirect(uri, 'native')).toMatch(/must be (https, or|in its normal form)/);
  });

  it.each(['https://localhost/callback', 'https://127.0.0.1/callback', 'https://[::1]:49152/callback'])(
    'native refuses %s as redirect URI and after the sign-out, with which the provider would refuse the whole application',
    (uri) => {
      for (const production of [true, false]) {
        const problems = wrong({ redirect_uris: [uri], post_logout_redirect_uris: [uri] }, 'native', production);
        expect(Object.entries(problems)).toEqual(
          ['redirect_uris[0]', 'post_logout_redirect_uris[0]'].map((at) => [
            at,
            [`${at} must be http://127.0.0.1 or http://[::1] on this machine`],
          ]),
        );
      }
    },
  );

  it('outside production, http on this machine is a redirect URI, a logout URI and an address', () => {
    for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
      const uri = `http://${host}:3000/x`;
      const given = { redirect_uris: [uri], backchannel_logout_uri: uri, uri, logo_url: uri };
      expect(wrong(given, 'web', false)).toEqual({});
      expect(Object.keys(wrong(given, 'web', true)).sort()).toEqual([
        'backchannel_logout_uri',
        'logo_url',
        'redirect_uris[0]',
        'uri',
      ]);
    }
    expect(wrongRedirect('http://app.example.com/x', 'web', false)).toBe(
      'redirect_uris[0] must be https, or http on this machine',
    );
  });

  it.each([
    'https://169.254.169.254/logout',
    'https://169.254.1.1:8443/logout',
    'https://[fe80::1]/logout',
    'https://[febf::1]/logout',
    'https://[::ffff:a9fe:a9fe]/logout',
  ])('the logout URI %s of a link-local address is refused (T491)', (uri) => {
    expect(wrong({ backchannel_logout_uri: uri })).toEqual({
      backchannel_logout_uri: ['backchannel_logout_uri must not be a link-local address'],
    });
  });

  it.each(['10.0.0.7', '192.168.1.1', '[fc00::1]', '[fec0::1]', 'app.example.com'])(
    'a logout URI at %s is allowed: applications of a company are there',
    (host) => expect(wrong({ backchannel_logout_uri: `https://${host}/logout` })).toEqual({}),
  );

  it.each([
    [{ name: ' ' }, ['name']],
    [{ name: 'x'.repeat(256) }, ['name']],
    [{ name: 'a\u202eb' }, ['name']],
    [{ name: 'a\nb' }, ['name']],
    [{ redirect_uris: [] }, ['redirect_uris']],
    [{ redirect_uris: Array.from({ length: 21 }, (_, n) => `https://a.example/${n}`) }, ['redirect_uris']],
    [{ redirect_uris: ['https://a.example/1', 'x', 'https://a.example/1'] }, ['redirect_uris[1]', 'redirect_uris[2]']],
    [{ redirect_uris: [7, null, {}] as never }, ['redirect_uris[0]', 'redirect_uris[1]', 'redirect_uris[2]']],
    [{ post_logout_redirect_uris: ['http://a.example'] }, ['post_logout_redirect_uris[0]']],
    [{ backchannel_logout_uri: 'https://a.example/out#x' }, ['backchannel_logout_uri']],
    [{ backchannel_logout_uri: 'http://a.example/out' }, ['backchannel_logout_uri']],
    [{ scopes: ['openid', 'admin', 'Openid', 'a b:c', ':', 'a:'] }, [1, 2, 3, 4, 5].map((n) => `scopes[${n}]`)],
    [
      { audience: ['api', 'https://api.example/#x', 'https://*.example', '/api', ':x'] },
      [0, 1, 2, 3, 4].map((n) => `audience[${n}]`),
    ],
    [{ logo_url: 'javascript:alert(1)', uri: 'javascript:alert(1)' }, ['logo_url', 'uri']],
    [{ logo_url: 'data:image/svg+xml,x', uri: '//evil.example' }, ['logo_url', 'uri']],
  ])('a wrong field (%#) is refused, and each entry is named with its index', (given, fields) => {
    expect(Object.keys(wrong(given))).toEqual(fields);
  });

  it('resources are absolute URIs of any scheme, and may have scopes of their own', () => {
    expect(wrong({ audience: ['https://api.example.com', 'urn:example:api', 'api://default'] })).toEqual({});
    expect(wrong({ scopes: ['openid', 'metrics:read', 'https://api.example.com/metrics'] })).toEqual({});
  });

  it('an empty text clears a field', () => {
    expect(checkedFields({ uri: '', logo_url: null }, { type: 'web', production: true })).toEqual({
      uri: null,
      logoUrl: null,
    });
  });

  it('a service has no users, so what belongs to users is refused', () => {
    const uri = 'https://a.example/x';
    const given = {
      redirect_uris: [uri],
      allowed_tenants: ['root'],
      uri,
      backchannel_logout_uri: uri,
    };
    expect(Object.keys(wrong(given, 'service')).sort()).toEqual(Object.keys(given).sort());
    expect(Object.keys(wrong({ scopes: ['openid', 'metrics:read'] }, 'service'))).toEqual(['scopes[0]']);
    expect(wrong(newApplicationFields('service', { name: 'Batch' }), 'service')).toEqual({});
  });

  it('a new application has defaults, and web and spa need a redirect URI', () => {
    expect(newApplicationFields('web', { name: 'App', enabled: undefined })).toMatchObject({
      ...{ name: 'App', scopes: ['openid', 'profile', 'email'], first_party: false, enabled: true },
    });
    for (const type of ['web', 'spa'] as const) {
      expect(Object.keys(wrong(newApplicationFields(type, { name: 'App' }), type))).toEqual(['redirect_uris']);
    }
    expect(wrong(newApplicationFields('native', { name: 'Television' }), 'native')).toEqual({});
  });

  it('the longest lists fit into a column of 65,535 bytes', () => {
    const longest = Array.from({ length: 20 }, (_, n) => `https://a.example/${n}`.padEnd(2048, 'x'));
    const lists = { redirect_uris: longest, post_logout_redirect_uris: longest, audience: longest };
    expect(wrong({ ...lists, scopes: applicationScopes })).toEqual({});
    expect(JSON.stringify(longest).length).toBeLessThan(65_535);
  });
});
