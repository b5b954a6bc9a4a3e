import { OwnFactors } from './own-factors';

describe('the own factors of a user', () => {
  it('are counted as their module says', () => {
    const factors = new OwnFactors();
    factors.register('passkeys', (userId) => `(SELECT 1 WHERE ${userId})`);
    expect(factors.count('passkeys', 'u.uid')).toBe('(SELECT 1 WHERE u.uid)');
    expect(factors.quickCount('passkeys', 'u')).toBe(
      '(CASE WHEN u.own_factors = 0 THEN 0 ELSE (SELECT 1 WHERE u.uid) END)',
    );
  });

  it('are an error without the module that counts them, and not 0', () => {
    expect(() => new OwnFactors().count('recovery codes', '?')).toThrow(
      'no module of this program counts recovery codes',
    );
    expect(() => new OwnFactors().quickCount('passkeys', 'u')).toThrow('no module of this program counts passkeys');
  });
});
