import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { TokenBindingSettings } from '../token-binding-settings';
import { forwardedRequest } from './asked-request';

const settings: TokenBindingSettings = {
  binding: 'optional',
  origins: ['https://portal.test'],
  pathPrefix: '',
  loopbackNames: false,
  proofsRedisUrl: undefined,
  singleProcess: true,
};
const proxies = [ipaddr.parseCIDR('10.0.0.7/32')];
const from = (remoteAddress: string, headers: Record<string, string>) =>
  forwardedRequest(
    { method: 'GET', raw: { url: '/verify?x' }, headers, socket: { remoteAddress } } as unknown as FastifyRequest,
    settings,
    proxies,
  );

describe('the request that a proxy asks about', () => {
  // Otherwise a proof for this service itself would do for a request that the proxy has named in part.
  it.each(['x-forwarded-method', 'x-forwarded-uri', 'x-original-method', 'x-original-uri'])(
    'is unknown when a trusted proxy names it by %s only, and is no request to this service',
    (name) => {
      expect(from('10.0.0.7', { [name]: name.endsWith('uri') ? '/pages' : 'POST' })).toBeUndefined();
    },
  );

  it('is the request to this service when nobody who is trusted names another one', () => {
    const own = { method: 'GET', origins: ['https://portal.test'], path: '/verify', pathPrefix: '' };
    expect(from('10.0.0.7', {})).toEqual(own);
    expect(from('192.0.2.9', { 'x-original-method': 'POST', 'x-original-uri': '/pages' })).toEqual(own);
  });
});
