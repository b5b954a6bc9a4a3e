import { isAskedForCode, missingFactors } from '../../portal/src/account/missing-factors';
import type { Offer } from '../../portal/src/offer';

const offer = (mfa: 'never' | 'enrolled' | 'always' | undefined, mfaRequired = mfa === 'always'): Offer =>
  ({ ...(mfa !== undefined && { mfa }), mfa_required: mfaRequired }) as Offer;
const nothing = { email: 'a@example.com', mfa_type: 'email', passkeys: 0, recovery_codes_left: 0 } as const;

describe('what a user lacks after a sign-in', () => {
  it.each([
    ['never', true, ['passkey'], false],
    ['never', false, [], false],
    ['enrolled', true, ['passkey', 'authenticator'], false],
    ['enrolled', false, ['authenticator'], false],
    ['always', true, ['passkey', 'authenticator'], true],
    ['always', false, ['authenticator'], true],
  ] as const)('where a code is asked for %s, keeping passkeys: %s', (mfa, keeps, factors, codes) => {
    expect(missingFactors(offer(mfa), nothing, keeps)).toEqual({ factors, required: false, codes });
  });

  it('a service that does not answer `mfa` asks everybody or nobody', () => {
    expect(missingFactors(offer(undefined, true), nothing, false).factors).toEqual(['authenticator']);
    expect(missingFactors(offer(undefined, false), nothing, false).factors).toEqual([]);
  });

  it('nothing, with a passkey or an authenticator, and recovery codes', () => {
    const codes = { ...nothing, recovery_codes_left: 1 };
    for (const mfa of ['never', 'enrolled', 'always'] as const) {
      for (const own of [{ passkeys: 1 }, { mfa_type: 'totp' }] as const) {
        expect(missingFactors(offer(mfa), { ...codes, ...own }, true)).toEqual({
          ...{ factors: [], required: false, codes: false },
        });
      }
    }
  });

  it('a factor is required only where the code has no address to go to, and nothing else opens the account', () => {
    const noAddress = { ...nothing, email: null };
    expect(missingFactors(offer('always'), noAddress, true).required).toBe(true);
    expect(missingFactors(offer('always'), { ...noAddress, passkeys: 1 }, true).required).toBe(false);
    expect(missingFactors(offer('always'), { ...noAddress, mfa_type: 'totp' }, true).required).toBe(false);
    expect(missingFactors(offer('enrolled'), noAddress, true).required).toBe(false);
    expect(missingFactors(offer('never'), noAddress, true).required).toBe(false);
  });

  it('recovery codes matter to whom a sign-in asks for a code', () => {
    const totp = { mfa_type: 'totp' } as const;
    expect([isAskedForCode(offer('never'), totp), isAskedForCode(offer('enrolled'), nothing)]).toEqual([false, false]);
    expect([isAskedForCode(offer('enrolled'), totp), isAskedForCode(offer('always'), nothing)]).toEqual([true, true]);
  });
});
