import type { MeResponse } from '@portal-auth/sdk';
import type { Offer } from '../offer';

type Asks = 'never' | 'enrolled' | 'always';

/** Of whom a sign-in with a password asks a code. A service of an older version answers `mfa_required` only. */
export const asksOf = (offer: Offer & { readonly mfa?: Asks }): Asks =>
  offer.mfa ?? (offer.mfa_required ? 'always' : 'never');

/** Whether the next sign-in with a password asks this user for a code. */
export function isAskedForCode(offer: Offer, me: Pick<MeResponse, 'mfa_type'>): boolean {
  const asks = asksOf(offer);
  return asks === 'always' || (asks === 'enrolled' && me.mfa_type === 'totp');
}

export interface MissingFactors {
  /** What the user can set up in place of a password or of mailed codes; empty for a user who has one. */
  readonly factors: readonly ('passkey' | 'authenticator')[];
  /** Without a factor there is no way to sign in again. */
  readonly required: boolean;
  /** A code is asked for at sign-in, and the user has none for the day on which the phone is lost. */
  readonly codes: boolean;
}

type Account = Pick<MeResponse, 'email' | 'mfa_type' | 'passkeys' | 'recovery_codes_left'>;

/**
 * What a user still lacks. An authenticator is not offered where no sign-in asks for its code. Only one case locks the
 * user out: a sign-in asks for a code, and the account has no e-mail address that could get one.
 */
export function missingFactors(offer: Offer, me: Account, keepsPasskeys: boolean): MissingFactors {
  const asks = asksOf(offer);
  const hasOne = me.passkeys > 0 || me.mfa_type === 'totp';
  return {
    factors: hasOne
      ? []
      : [...(keepsPasskeys ? (['passkey'] as const) : []), ...(asks === 'never' ? [] : (['authenticator'] as const))],
    required: !hasOne && asks === 'always' && me.email === null,
    codes: isAskedForCode(offer, me) && me.recovery_codes_left === 0,
  };
}
