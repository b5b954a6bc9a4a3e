import type { MeResponse } from '@portal-auth/sdk';
import type { Offer } from '../offer';
import { isAsked } from './advice';

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
export function missingFactors({ mfa }: Pick<Offer, 'mfa'>, me: Account, keepsPasskeys: boolean): MissingFactors {
  const hasOne = me.passkeys > 0 || me.mfa_type === 'totp';
  return {
    factors: hasOne
      ? []
      : [...(keepsPasskeys ? (['passkey'] as const) : []), ...(mfa === 'never' ? [] : (['authenticator'] as const))],
    required: !hasOne && mfa === 'always' && me.email === null,
    codes: isAsked(mfa, me) && me.recovery_codes_left === 0,
  };
}
