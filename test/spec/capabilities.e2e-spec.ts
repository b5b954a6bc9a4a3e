import { TestService } from '../support/app';

describe('GET /capabilities', () => {
  it('lists the features of a service with default settings, without a token, and may be cached for a minute', async () => {
    const service = await TestService.start();
    const answer = await service.get('/capabilities');
    expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'public, max-age=60' } });
    expect(answer.body).toEqual({
      status: true,
      data: {
        providers: ['password'],
        identity_providers: [],
        login_discovery: false,
        captcha: { provider: 'altcha', site_key: null },
        login_by_email: true,
        mfa_required: false,
        mfa: 'never',
        passkeys: true,
        token_binding: 'optional',
        trusted_device_days: 0,
        password_reset: true,
        home_url: null,
        languages: ['en', 'de', 'zh-CN'],
        brand: {
          name: null,
          logo_url: null,
          logo_dark_url: null,
          favicon_url: null,
          color: '#2457c5',
          tagline: null,
          support_url: null,
          privacy_url: null,
          imprint_url: null,
        },
      },
    });
    await service.stop();
  });

  it('contains the settings of the brand, the directory and the captcha, and none of their secrets', async () => {
    const service = await TestService.start({
      LDAP_URL: 'ldap://127.0.0.1:1',
      LDAP_BIND_DN: 'cn=reader,dc=example,dc=com',
      LDAP_BIND_PASSWORD: 'secret-of-the-reader',
      LDAP_SEARCH_BASE: 'dc=example,dc=com',
      LDAP_SEARCH_FILTER: '(uid={{username}})',
      CAPTCHA_PROVIDER: 'turnstile,altcha',
      CAPTCHA_SECRET: 'secret-of-turnstile',
      CAPTCHA_SITE_KEY: 'site-key',
      MFA_REQUIRED: 'true',
      PORTAL_HOME_URL: 'https://portal.example.com/start',
      BRAND_NAME: 'Fish & Sons',
      BRAND_COLOR: '#A01030',
      BRAND_LOGO_URL: 'https://cdn.example.com/logo.svg',
      SUPPORT_URL: 'mailto:help@example.com',
      PRIVACY_URL: 'https://example.com/privacy',
      IMPRINT_URL: 'https://example.com/imprint',
    });
    const { body } = await service.get('/capabilities');
    expect(body.data).toMatchObject({
      providers: ['password', 'ldap'],
      captcha: { provider: 'turnstile', site_key: 'site-key' },
      mfa_required: true,
      mfa: 'always',
      home_url: 'https://portal.example.com/start',
      brand: {
        name: 'Fish & Sons',
        logo_url: 'https://cdn.example.com/logo.svg',
        color: '#a01030',
        support_url: 'mailto:help@example.com',
        privacy_url: 'https://example.com/privacy',
        imprint_url: 'https://example.com/imprint',
      },
    });
    expect(JSON.stringify(body)).not.toMatch(/secret|reader/);
    await service.stop();
  });

  it('a second factor of those who have one is "enrolled", and no login of all: mfa_required stays false', async () => {
    const service = await TestService.start({ MFA_REQUIRED: 'enrolled', PORTAL_HOME_URL: '/start?from=login' });
    const { body } = await service.get('/capabilities');
    expect(body.data).toMatchObject({ mfa_required: false, mfa: 'enrolled', home_url: '/start?from=login' });
    await service.stop();
  });
});
