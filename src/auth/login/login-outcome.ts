import type { TokenPair } from '../../tokens/session-opener';
import type { MfaType, User } from '../../users/user.entity';

/** The three branches of §1.3. */
export type LoginOutcome =
  | { readonly kind: 'session'; readonly user: User; readonly tokens: TokenPair }
  | { readonly kind: 'mfa'; readonly user: User; readonly channel: MfaType; readonly mfaToken: string }
  | { readonly kind: 'password-change'; readonly user: User; readonly changeUid: string };
