import type { ClientInfo } from '../../shared/client-info';
import { groupOf, targetOf } from './limited-route';

const asked = (body: unknown, params: unknown, ip = '203.0.113.1') => ({ body, params, client: { ip } as ClientInfo });

describe('what a request is counted under', () => {
  it.each([
    ['/login', 'login'],
    ['/otp-verify', 'otp'],
    ['/otp-resend', 'otp'],
    ['/otp-qrcode/:uid', 'otp'],
    ['/verify-captcha', 'captcha'],
    ['/captcha/challenge', 'captcha'],
    ['/forget-password', 'forgotPassword'],
    ['/refresh', 'other'],
    ['/user/change-pwd-by-req', 'other'],
  ])('%s counts as %s', (route, group) => {
    expect(groupOf(route)).toBe(group);
  });

  it.each(['/health/live', '/health/ready', '/.well-known/jwks.json', '/openapi.json', '/docs', '/metrics'])(
    '%s is not limited',
    (route) => {
      expect(groupOf(route)).toBeUndefined();
    },
  );

  it.each([
    ['/forget-password', { email: ' Alice@Example.COM ' }, {}, 'alice@example.com'],
    ['/user/change-pwd-req/:uid', undefined, { uid: 'u-1' }, 'u-1'],
    ['/user/change-pwd-by-req', { req_uid: 'u-1' }, {}, 'u-1'],
    ['/login', { username: 'alice' }, {}, undefined],
    ['/forget-password', { email: ['a@example.com'] }, {}, undefined],
    ['/forget-password', undefined, {}, undefined],
    ['/forget-password', null, {}, undefined],
    ['/forget-password', 'text', {}, undefined],
  ])('%s with %j is about %s', (route, body, params, target) => {
    expect(targetOf(route, asked(body, params))).toBe(target);
  });

  describe.each(['/otp-verify', '/otp-resend'])('%s is counted for the uid and whoever asks', (route) => {
    const target = (body: object, ip?: string) => targetOf(route, asked(body, {}, ip));
    const owner = target({ uid: 'u-1', mfa_token: 'secret' });

    it('by the mfa_token, wherever it comes from, and never in clear', () => {
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
    ])('%s is counted elsewhere', (_what, body) => {
      expect(target(body)).toBeDefined();
      expect(target(body)).not.toBe(owner);
    });

    it('by the network where no token is sent', () => {
      expect(target({ uid: 'u-1' }, '2001:db8::1')).toBe(target({ uid: 'u-1' }, '2001:db8::ffff:1'));
      expect(target({ uid: 'u-1' }, '2001:db8::1')).not.toBe(target({ uid: 'u-1' }, '2001:db8:0:1::1'));
    });

    it('no uid can be written so that it names the target of another', () => {
      const forged = [owner, owner?.slice(0, -1), 'u-1"', 'u-1,', 'u-1\u0000'].map((uid) => target({ uid }));
      expect(forged).not.toContain(owner);
      expect(new Set(forged).size).toBe(forged.length);
    });
  });

  it('a QR code is counted for the uid and the network that asks', () => {
    const target = (ip: string) => targetOf('/otp-qrcode/:uid', asked(undefined, { uid: 'u-1' }, ip));
    expect(target('203.0.113.1')).toBeDefined();
    expect(target('203.0.113.1')).not.toBe(target('203.0.113.2'));
  });
});
