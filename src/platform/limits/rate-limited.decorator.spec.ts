import type { ExecutionContext } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { bodyField, limitOf, NotRateLimited, pathParameter, RateLimited } from './rate-limited.decorator';

class Routes {
  @RateLimited('login')
  grouped(): void {}

  @RateLimited('other', bodyField('email'))
  withTarget(): void {}

  undeclared(): void {}
}

@NotRateLimited()
class Probes {
  live(): void {}

  @RateLimited('captcha')
  costly(): void {}
}

const at = (type: typeof Routes | typeof Probes, method: string) =>
  limitOf({
    getClass: () => type,
    getHandler: () => (type.prototype as unknown as Record<string, () => void>)[method],
  } as unknown as ExecutionContext);

const asked = (body: unknown, params: unknown = {}) => ({ body, params, client: { ip: '203.0.113.1' } as ClientInfo });

describe('the limit of a route', () => {
  it('is the declared group', () => {
    expect(at(Routes, 'grouped')).toEqual({ group: 'login' });
  });

  it('is the limit of the group `other` for a method without a declaration', () => {
    expect(at(Routes, 'undeclared')).toEqual({ group: 'other' });
  });

  it('does not exist for a controller with @NotRateLimited, except for a method that declares a limit', () => {
    expect(at(Probes, 'live')).toEqual({ group: undefined });
    expect(at(Probes, 'costly')).toEqual({ group: 'captcha' });
  });

  it('counts the declared target as well', () => {
    expect(at(Routes, 'withTarget').target?.(asked({ email: 'a@example.com' }))).toBe('a@example.com');
  });
});

describe('the target of a request', () => {
  it('is the field of the body or the parameter of the path, in its canonical form', () => {
    expect(bodyField('email')(asked({ email: ' Alice@Example.COM ' }))).toBe('alice@example.com');
    expect(pathParameter('uid')(asked(undefined, { uid: 'U-1' }))).toBe('u-1');
  });

  it.each([
    ['an array', { email: ['a@example.com'] }],
    ['no such field', { username: 'alice' }],
    ['no body', undefined],
    ['null', null],
    ['text', 'text'],
  ])('is undefined for %s', (_what, body) => {
    expect(bodyField('email')(asked(body))).toBeUndefined();
  });
});
