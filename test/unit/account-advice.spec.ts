import { adviceFor, type Advice, type Asking } from '../../portal/src/account/advice';

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
