import type { ClientInfo } from '../../shared/client-info';
import { secondFactorOf } from './second-factor-target';

const asked = (body: unknown, params: unknown, ip = '203.0.113.1') => ({ body, params, client: { ip } as ClientInfo });

describe('the rate limit target of a second-factor request', () => {
  const target = (body: unknown, ip?: string) => secondFactorOf('body')(asked(body, {}, ip));
  const owner = target({ uid: 'u-1', mfa_token: 'secret' });

  it('consists of the uid and the mfa_token, never in clear text, and is the same from every address', () => {
    expect(target({ uid: ' U-1', mfa_token: 'secret' }, '2001:db8::1')).toBe(owner);
    expect(owner).not.toContain('secret');
  });

  it.each([
    ['another token', { uid: 'u-1', mfa_token: 'junk' }],
    ['an empty token', { uid: 'u-1', mfa_token: '' }],
    ['no token', { uid: 'u-1' }],
    ['a token that is null', { uid: 'u-1', mfa_token: null }],
    ['a token that is no text', { uid: 'u-1', mfa_token: ['secret'] }],
    ['another uid', { uid: 'u-2', mfa_token: 'secret' }],
  ])('%s gives another target', (_what, body) => {
    expect(target(body)).toBeDefined();
    expect(target(body)).not.toBe(owner);
  });

  it('consists of the uid and the network of the client when no token is sent', () => {
    expect(target({ uid: 'u-1' }, '2001:db8::1')).toBe(target({ uid: 'u-1' }, '2001:db8::ffff:1'));
    expect(target({ uid: 'u-1' }, '2001:db8::1')).not.toBe(target({ uid: 'u-1' }, '2001:db8:0:1::1'));
  });

  it('no forged uid gives the target of another user', () => {
    const forged = [owner, owner?.slice(0, -1), 'u-1"', 'u-1,', 'u-1\u0000'].map((uid) => target({ uid }));
    expect(forged).not.toContain(owner);
    expect(new Set(forged).size).toBe(forged.length);
  });

  it.each([undefined, null, 'text', {}, { uid: ['u-1'] }])('%j has no target', (body) => {
    expect(target(body)).toBeUndefined();
  });

  it('for a QR code consists of the uid in the path and the network', () => {
    const picture = (ip: string) => secondFactorOf('params')(asked(undefined, { uid: 'u-1' }, ip));
    expect(picture('203.0.113.1')).toBeDefined();
    expect(picture('203.0.113.1')).not.toBe(picture('203.0.113.2'));
  });
});
