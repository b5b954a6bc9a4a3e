import { request } from 'node:http';
import { Replicas } from '../support/replicas';
import { Nginx } from '../support/servers/nginx';
import { captchaToken } from '../support/settings';

/** All addresses of 127.0.0.0/8 belong to this machine. Only the first one is the proxy. */
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

  /** Logs in from an address of this machine. Returns the error code and the address in the login log. */
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
    ['a forged chain with ports', { 'x-forwarded-for': `1.2.3.4:80, ${proxyAddress}:443` }],
    ['several X-Forwarded-For', { 'x-forwarded-for': ['1.2.3.4', '5.6.7.8'] }],
    ['an X-Forwarded-For without an address', { 'x-forwarded-for': 'not-an-ip' }],
    ['a very long X-Forwarded-For', { 'x-forwarded-for': '1.2.3.4, '.repeat(700) }],
    ['other headers', { forwarded: 'for=1.2.3.4', 'x-real-ip': '1.2.3.4', 'cf-connecting-ip': '1.2.3.4' }],
  ])('the client address is that of the visitor, with these headers: %s', async (_what, headers) => {
    expect(await login(nginx.url, headers)).toEqual({ code: 'LOGIN_404001', ip: visitorAddress });
  });

  it('X-Forwarded-For of a client that bypasses the proxy is ignored', async () => {
    const [service] = replicas.services;
    expect(await login(service!.url, { 'x-forwarded-for': '1.2.3.4' })).toEqual({
      code: 'LOGIN_404001',
      ip: visitorAddress,
    });
  });
});
