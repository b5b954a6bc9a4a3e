/** The users whom a sign-in asks for a second factor. */
export type Asking = 'never' | 'enrolled' | 'always';

interface Here {
  readonly mfa: Asking;
  /** Whether people can sign in with a passkey. */
  readonly passkeys: boolean;
}

/** The part of `GET /user/me` that the check reads. */
interface Account {
  readonly mfa_type: 'email' | 'totp';
  readonly passkeys: number;
  readonly recovery_codes_left: number;
  readonly password_expires_at: string | null;
  /** Where the user signs in, if not here. */
  readonly identity_provider?: unknown;
  readonly session?: { readonly amr: readonly string[] };
}

/** With this many recovery codes or fewer, the user should make new ones. */
export const fewCodes = 3;

/** The first mail about an expiring password is sent as early (`PASSWORD_EXPIRY_WARN_DAYS`). */
const warnedBefore = 14 * 24 * 3_600_000;

/** The things that an account can lack. Each one is a text of the security check. */
export type Advice = 'passwordExpires' | 'passwordAlone' | 'mailedCodes' | 'noPasskey' | 'noCodes' | 'fewCodes';

type SignIn = Pick<Account, 'identity_provider' | 'session'>;

/** The user has no password here. */
const isElsewhere = ({ identity_provider }: SignIn): boolean => identity_provider != null;

/** The identity provider has asked for the second factor, so no sign-in asks for one here (`trust_mfa`). */
const isTrusted = (me: SignIn): boolean =>
  isElsewhere(me) && me.session?.amr.includes('mfa') === true && !me.session.amr.includes('otp');

/** Whether this user has to enter a code after the password. */
export const isAsked = (mfa: Asking, me: Pick<Account, 'mfa_type'> & SignIn): boolean =>
  !isTrusted(me) && (mfa === 'always' || (mfa === 'enrolled' && me.mfa_type === 'totp'));

/** The advice for this user, the most urgent first. It names only steps that work in this installation. */
export function adviceFor(me: Account, { mfa, passkeys }: Here, present: number): Advice[] {
  const app = me.mfa_type === 'totp';
  const expires = me.password_expires_at === null ? Infinity : Date.parse(me.password_expires_at);
  const asked = isAsked(mfa, me);
  const elsewhere = isElsewhere(me);
  const all: readonly (readonly [Advice, boolean])[] = [
    ['passwordExpires', expires - present < warnedBefore],
    ['passwordAlone', mfa === 'enrolled' && !app && !elsewhere],
    ['mailedCodes', mfa === 'always' && asked && !app && me.passkeys === 0],
    ['noPasskey', mfa === 'never' && passkeys && me.passkeys === 0 && !elsewhere],
    ['noCodes', asked && me.recovery_codes_left === 0],
    ['fewCodes', asked && me.recovery_codes_left > 0 && me.recovery_codes_left <= fewCodes],
  ];
  return all.flatMap(([advice, due]) => (due ? [advice] : []));
}

export interface MissingFactors {
  /** What the user can set up in place of a password or of mailed codes; empty for a user who has one. */
  readonly factors: readonly ('passkey' | 'authenticator')[];
  /** Without a factor there is no way to sign in again. */
  readonly required: boolean;
  /** A code is asked for at sign-in, and the user has none for the day on which the phone is lost. */
  readonly codes: boolean;
}

type Newcomer = Omit<Account, 'password_expires_at'> & { readonly email: string | null };

/**
 * What a user still lacks. An authenticator is not offered where no sign-in asks for its code. Only one case locks the
 * user out: a sign-in asks for a code, and the account has no e-mail address that could get one.
 */
export function missingFactors(mfa: Asking, me: Newcomer, keepsPasskeys: boolean): MissingFactors {
  const hasOne = me.passkeys > 0 || me.mfa_type === 'totp' || isTrusted(me);
  return {
    factors: hasOne
      ? []
      : [...(keepsPasskeys ? (['passkey'] as const) : []), ...(mfa === 'never' ? [] : (['authenticator'] as const))],
    required: !hasOne && mfa === 'always' && me.email === null,
    codes: isAsked(mfa, me) && me.recovery_codes_left === 0,
  };
}
