import type { PasswordPolicyResponse } from './generated/types.gen.js';

export type PasswordRule = 'length' | 'upper' | 'lower' | 'digit' | 'special' | 'bytes';

export interface PasswordHint {
  readonly rule: PasswordRule;
  readonly met: boolean;
}

/** bcrypt reads only 72 bytes, so the service refuses longer passwords. */
const maxBytes = 72;

/** Checks a password like the service does. The result lists each active rule; `bytes` is listed only if broken. */
export function passwordHints(policy: PasswordPolicyResponse, password: string): PasswordHint[] {
  const hints: (PasswordHint | false)[] = [
    { rule: 'length', met: [...password].length >= policy.min_length },
    policy.require_upper && { rule: 'upper', met: /\p{Lu}/u.test(password) },
    policy.require_lower && { rule: 'lower', met: /\p{Ll}/u.test(password) },
    policy.require_digit && { rule: 'digit', met: /\p{Nd}/u.test(password) },
    policy.require_special && { rule: 'special', met: /[\p{P}\p{S}\p{Z}]/u.test(password) },
    (new TextEncoder().encode(password).length > maxBytes || password.includes('\0')) && { rule: 'bytes', met: false },
  ];
  return hints.filter((hint) => hint !== false);
}
