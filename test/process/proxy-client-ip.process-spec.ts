import { request } from 'node:http';
import { Replicas } from '../support/replicas';
import { Nginx } from '../support/servers/nginx';
import { captchaToken } from '../support/settings';

/** The whole of 127/8 is this machine, but only this one address is the proxy's. */
const [proxyAddress, visitorAddress] = ['127.0.0.1', '127.0.0.2'];

describe('behind a real nginx (W13)', () => {
  let replicas: Replicas;
  let nginx: Nginx;

  beforeAll(async () => {
    replicas = await Replicas.start({ TRUSTED_PROXIES: proxyAddress }, 1);
    nginx = await Nginx.start(replicas.services.map(({ port }) => port));
  });

  afterAll(async () => {
    await nginx?.stop();
    await replicas?.stop();
  });

  /** A login from an address of this machine; answers the error code and what the journal has of it. */
  async function login(url: string, headers: Record<string, string | string[]>) {
    const body = JSON.stringify({ username: 'nobody', password: 'wrong', captcha_token: captchaToken });
    const text = await new Promise<string>((resolve, reject) => {
      const sent = request(
        `${url}/login`,
        {
          method: 'POST',
          localAddress: visitorAddress,
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
        },
        (response) => {
          let received = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => (received += chunk));
          response.on('end', () => resolve(received));
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
    const [row] = await replicas.rows('SELECT ip FROM login_logs ORDER BY id DESC LIMIT 1');
    return { code: (JSON.parse(text) as { error_code: string }).error_code, ip: row?.ip as unknown };
  }

  it.each([
    ['none', {}],
    ['a forged X-Forwarded-For', { 'x-forwarded-for': '1.2.3.4' }],
    ['a forged chain that ends at the proxy', { 'x-forwarded-for': `1.2.3.4, ${proxyAddress}` }],
    ['several X-Forwarded-For', { 'x-forwarded-for': ['1.2.3.4', '5.6.7.8'] }],
    ['one that does not parse', { 'x-forwarded-for': 'not-an-ip' }],
    ['an endless one', { 'x-forwarded-for': '1.2.3.4, '.repeat(700) }],
    ['other headers', { forwarded: 'for=1.2.3.4', 'x-real-ip': '1.2.3.4', 'cf-connecting-ip': '1.2.3.4' }],
  ])('the address is the visitor’s: %s', async (_what, headers) => {
    expect(await login(nginx.url, headers)).toEqual({ code: 'LOGIN_404001', ip: visitorAddress });
  });

  it('who comes past the proxy is not believed', async () => {
    const [service] = replicas.services;
    expect(await login(service!.url, { 'x-forwarded-for': '1.2.3.4' })).toEqual({
      code: 'LOGIN_404001',
      ip: visitorAddress,
    });
  });
});
