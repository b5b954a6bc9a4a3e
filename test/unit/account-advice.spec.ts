import { adviceFor, type Advice, type Asking, missingFactors } from '../../portal/src/account/advice';

const present = Date.parse('2026-03-04T12:00:00Z');
const inDays = (days: number): string => new Date(present + days * 24 * 3_600_000).toISOString();
const bare = { mfa_type: 'email', passkeys: 0, recovery_codes_left: 0, password_expires_at: null } as const;
const app = { ...bare, mfa_type: 'totp' } as const;
const safe = { ...app, recovery_codes_left: 10 } as const;

type Account = Parameters<typeof adviceFor>[0];

describe('the security check', () => {
  it.each<[string, Asking, boolean, Account, Advice[]]>([
    ['asks for nothing where no code is asked and passkeys are off', 'never', false, bare, []],
    ['does not ask for codes or an app that no sign-in asks for', 'never', false, app, []],
    ['offers a passkey where no code is asked', 'never', true, bare, ['noPasskey']],
    ['is content with a passkey where no code is asked', 'never', true, { ...bare, passkeys: 1 }, []],
    ['asks for an app where only those are asked who have one', 'enrolled', true, bare, ['passwordAlone']],
    [
      'knows that a passkey does not stop a stolen password',
      'enrolled',
      true,
      { ...bare, passkeys: 1 },
      ['passwordAlone'],
    ],
    ['asks for recovery codes beside an app', 'enrolled', true, app, ['noCodes']],
    ['is content with an app and recovery codes', 'enrolled', true, safe, []],
    ['is content with them where everybody is asked', 'always', true, safe, []],
    ['names the mailbox as the only way to a code', 'always', false, bare, ['mailedCodes', 'noCodes']],
    ['asks only for recovery codes beside a passkey', 'always', true, { ...bare, passkeys: 1 }, ['noCodes']],
    ['warns of the last three codes', 'always', true, { ...safe, recovery_codes_left: 3 }, ['fewCodes']],
    ['does not warn of four codes', 'always', true, { ...safe, recovery_codes_left: 4 }, []],
    ['does not count codes that nobody asks for', 'never', false, { ...app, recovery_codes_left: 1 }, []],
    [
      'names a password that expires in 13 days',
      'never',
      false,
      { ...bare, password_expires_at: inDays(13) },
      ['passwordExpires'],
    ],
    ['says nothing of one that expires in 15 days', 'never', false, { ...bare, password_expires_at: inDays(15) }, []],
  ])('%s', (_, mfa, passkeys, me, advice) => {
    expect(adviceFor(me, { mfa, passkeys }, present)).toEqual(advice);
  });
});

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
    expect(missingFactors(mfa, nothing, keeps)).toEqual({ factors, required: false, codes });
  });

  it('nothing, with a passkey or an authenticator, and recovery codes', () => {
    const codes = { ...nothing, recovery_codes_left: 1 };
    for (const mfa of ['never', 'enrolled', 'always'] as const) {
      for (const own of [{ passkeys: 1 }, { mfa_type: 'totp' }] as const) {
        expect(missingFactors(mfa, { ...codes, ...own }, true)).toEqual({
          ...{ factors: [], required: false, codes: false },
        });
      }
    }
  });

  it('a factor is required only where the code has no address to go to, and nothing else opens the account', () => {
    const noAddress = { ...nothing, email: null };
    expect(missingFactors('always', noAddress, true).required).toBe(true);
    expect(missingFactors('always', { ...noAddress, passkeys: 1 }, true).required).toBe(false);
    expect(missingFactors('always', { ...noAddress, mfa_type: 'totp' }, true).required).toBe(false);
    expect(missingFactors('enrolled', noAddress, true).required).toBe(false);
    expect(missingFactors('never', noAddress, true).required).toBe(false);
  });
});
