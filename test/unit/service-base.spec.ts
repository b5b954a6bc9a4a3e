import { baseOfService } from '../../portal/src/service-base';

describe('the address of the service, in the pages', () => {
  it.each([
    ['without API_PREFIX', '', 'https://portal.test'],
    ['below API_PREFIX', '/api/v1', 'https://portal.test/api/v1'],
    ['at another origin', 'https://auth.test', 'https://auth.test'],
    ['at another origin, below API_PREFIX', 'https://auth.test/api', 'https://auth.test/api'],
  ])('%s: the redirect URI of a new identity provider is below it', (_, serviceUrl, base) => {
    const serviceBase = baseOfService(serviceUrl, 'https://portal.test/admin');
    expect(new URL('login/external/entra/callback', serviceBase).href).toBe(`${base}/login/external/entra/callback`);
  });
});
