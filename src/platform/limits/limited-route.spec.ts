import { groupOf, targetOf } from './limited-route';

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
    ['/otp-verify', { uid: 'u-1' }, {}, 'u-1'],
    ['/otp-resend', { uid: 'u-1' }, {}, 'u-1'],
    ['/otp-qrcode/:uid', undefined, { uid: 'u-1' }, 'u-1'],
    ['/user/change-pwd-req/:uid', undefined, { uid: 'u-1' }, 'u-1'],
    ['/user/change-pwd-by-req', { req_uid: 'u-1' }, {}, 'u-1'],
    ['/login', { username: 'alice' }, {}, undefined],
    ['/forget-password', { email: ['a@example.com'] }, {}, undefined],
    ['/forget-password', undefined, {}, undefined],
    ['/forget-password', null, {}, undefined],
    ['/forget-password', 'text', {}, undefined],
  ])('%s with %j is about %s', (route, body, params, target) => {
    expect(targetOf(route, { body, params })).toBe(target);
  });
});
